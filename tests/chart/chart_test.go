// Package chart renders the Helm chart with helm, and has kubeconform validate it and the manifests beside it against
// the schemas of Kubernetes.
package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gluepot/gluepot/tests/program"
)

var (
	helm        = flag.String("helm", "", "the program helm")
	kubeconform = flag.String("kubeconform", "", "the program kubeconform")
	swagger     = flag.String("swagger", "", "the OpenAPI document of Kubernetes (api/openapi-spec/swagger.json)")
)

// schemas is the folder of the schemas that kubeconform reads.
var schemas string

func TestMain(m *testing.M) {
	flag.Parse()
	if *helm == "" || *kubeconform == "" || *swagger == "" {
		fmt.Fprintln(os.Stderr, "these tests need helm, kubeconform and the schemas of Kubernetes: make test-chart")
		os.Exit(1)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	defer program.Remove()
	folder, err := os.MkdirTemp("", "gluepot-schemas-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := writeSchemas(*swagger, folder); err != nil {
		panic(err)
	}
	schemas = folder
	return m.Run()
}

const chart = "../../docs/operations/helm"

// object is what the tests look at in a rendered object.
type object struct {
	Kind     string
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Spec struct {
		Replicas int
		Strategy struct{ Type string }
		Rules    []struct {
			Host string
			HTTP struct {
				Paths []struct{ Path string }
			} `yaml:"http"`
		}
		TLS      []struct{ Hosts []string } `yaml:"tls"`
		Template struct {
			Spec struct {
				Containers []struct {
					Image string
					Args  []string
					Env   []struct{ Name, Value string }
				}
				Volumes []struct{ Name string }
			}
		}
	}
}

func TestChart(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct {
		kinds    []string
		replicas int
		strategy string
		image    string
		route    string            // host and path of the ingress
		settings map[string]string // some of those of the node
	}{
		"embedded.yaml": {
			kinds:    []string{"CronJob", "Deployment", "PersistentVolumeClaim", "PersistentVolumeClaim", "Service"},
			replicas: 1, strategy: "Recreate", image: "ghcr.io/gluepot/gluepot:latest",
			settings: map[string]string{
				"GLUEPOT_DATABASE_URL": "sqlite:///data/gluepot.db", "GLUEPOT_PUBLIC_URL": "http://localhost:8080",
				"GLUEPOT_STORE_MAX_BYTES": "20000000000",
			},
		},
		"ingress.yaml": {
			kinds:    []string{"Deployment", "Ingress", "Service"},
			replicas: 1, strategy: "Recreate", image: "registry.example/gluepot:v1.2.3", route: "paste.example/",
			settings: map[string]string{"GLUEPOT_HTTP_TRUSTED_PROXIES": "10.244.3.0/24,2001:db8::/64"},
		},
		"postgresql.yaml": {
			kinds:    []string{"Deployment", "Ingress", "Job", "PodDisruptionBudget", "Service"},
			replicas: 3, image: "ghcr.io/gluepot/gluepot:latest", route: "example.org/paste",
			settings: map[string]string{
				"GLUEPOT_DATABASE_URL": "", "GLUEPOT_DATABASE_URL_FILE": "/secrets/database/url",
				"GLUEPOT_DATABASE_MIGRATE": "false", "GLUEPOT_NOTIFY_URL_FILE": "/secrets/settings/GLUEPOT_NOTIFY_URL",
				"GLUEPOT_OIDC_CLIENT_ID": "20000000000", "GLUEPOT_SITE_NAME": `Ours: "pastes" <here>`,
				"GLUEPOT_STORE_MAX_BYTES": "40000000000", "GLUEPOT_REPORTS": "true", "GLUEPOT_USER_MAX_PASTES": "",
			},
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			values := filepath.Join("testdata", file)
			if out, err := exec.Command(*helm, "lint", "--strict", "--quiet", chart, "-f", values).CombinedOutput(); err != nil {
				t.Errorf("helm lint: %v: %s", err, out)
			}
			rendered, stderr, err := render("-f", values)
			if err != nil {
				t.Fatalf("helm template: %v: %s", err, stderr)
			}
			wantValid(t, rendered)
			var kinds []string
			for _, o := range objects(t, rendered) {
				kinds = append(kinds, o.Kind)
				switch o.Kind {
				case "Deployment":
					container := o.Spec.Template.Spec.Containers[0]
					if o.Spec.Replicas != want.replicas || o.Spec.Strategy.Type != want.strategy || container.Image != want.image {
						t.Errorf("got %d replicas of %s with the strategy %q, want %d of %s with %q", o.Spec.Replicas,
							container.Image, o.Spec.Strategy.Type, want.replicas, want.image, want.strategy)
					}
					settings := make(map[string]string)
					for _, variable := range container.Env {
						settings[variable.Name] = variable.Value
					}
					for name, value := range want.settings {
						if settings[name] != value {
							t.Errorf("%s: got %q, want %q", name, settings[name], value)
						}
					}
					wantAccepted(t, settings)
				case "Ingress":
					rule := o.Spec.Rules[0]
					if got := rule.Host + rule.HTTP.Paths[0].Path; got != want.route {
						t.Errorf("got an ingress for %s, want %s", got, want.route)
					}
					if size := o.Metadata.Annotations["nginx.ingress.kubernetes.io/proxy-body-size"]; size != "3m" {
						t.Errorf("got bodies of %q through the ingress, want 3m", size)
					}
				case "Job":
					if hook := o.Metadata.Annotations["helm.sh/hook"]; hook != "pre-install,pre-upgrade" {
						t.Errorf("got the hook %q, want the schema to be updated before the nodes", hook)
					}
				case "PersistentVolumeClaim":
					if o.Metadata.Annotations["helm.sh/resource-policy"] != "keep" {
						t.Errorf("%s: got a claim that goes with the release, want it kept", o.Metadata.Name)
					}
				}
			}
			if slices.Sort(kinds); !slices.Equal(kinds, want.kinds) {
				t.Errorf("got %v, want %v", kinds, want.kinds)
			}
		})
	}
}

// TestRefused wants values that cannot work to be refused by one sentence that names them.
func TestRefused(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"replicas=2":           "replicas: several nodes need PostgreSQL",
		"ingress.enabled=true": "publicURL: the ingress takes its host and path from it",
		"ingress.enabled=true,publicURL=https://paste.example": "trustedProxies: name the addresses",
		"publicUrl=https://paste.example":                      "publicUrl",
		"publicURL=paste.example":                              "/publicURL",
		"publicURL=https://paste.example/":                     "/publicURL",
		"settings.LIMIT_RATE=50":                               "LIMIT_RATE",
		"secrets.GLUEPOT_NOTIFY_URL=https://hooks.example":     "GLUEPOT_NOTIFY_URL",
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			if rendered, stderr, err := render("--set", set); err == nil || !strings.Contains(stderr, want) {
				t.Errorf("got %d bytes and %q, want an error that says %q", len(rendered), stderr, want)
			}
		})
	}
}

// TestManifests validates the manifests for those without Helm.
func TestManifests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/operations/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v and %v, want files", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) { wantValid(t, content) })
	}
}

// TestSchemas wants what the schemas are for: mistakes in each file are found.
func TestSchemas(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/operations/kubernetes/gluepot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"another member":  {"replicas: 3", "replica: 3"},
		"another type":    {"replicas: 3", "replicas: three"},
		"a missing one":   {"  selector:\n    matchLabels: {app.kubernetes.io/name: gluepot}\n  strategy", "  strategy"},
		"a deep one":      {"httpGet: {path: /readyz, port: http}", "httpGet: {path: /readyz, ports: http}"},
		"another version": {"policy/v1", "policy/v2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(string(content), change[0], change[1], 1)
			if changed == string(content) {
				t.Fatalf("got no %q in the file: change something else here", change[0])
			}
			if out, err := validate([]byte(changed)); err == nil {
				t.Errorf("got %s, want it refused", out)
			}
		})
	}
}

func render(args ...string) (rendered []byte, stderr string, err error) {
	var said bytes.Buffer
	// Helm that is built from its module takes itself to be for an old version.
	cmd := exec.Command(*helm, append([]string{"template", "paste", chart, "--kube-version", "1.37"}, args...)...)
	cmd.Stderr = &said
	rendered, err = cmd.Output()
	return rendered, said.String(), err
}

func objects(t *testing.T, documents []byte) (all []object) {
	t.Helper()
	for decoder := yaml.NewDecoder(bytes.NewReader(documents)); ; {
		var o object
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if o.Kind != "" { // a template that renders nothing
			all = append(all, o)
		}
	}
}

// wantAccepted wants a server to start with these settings, where the files of its secrets are.
func wantAccepted(t *testing.T, settings map[string]string) {
	t.Helper()
	var variables []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := settings[name]
		if setting, ok := strings.CutSuffix(name, "_FILE"); ok {
			if !regexp.MustCompile(`^/secrets/(database/url|settings/` + setting + `)$`).MatchString(value) {
				t.Errorf("%s: got %s, want a file of the volume", name, value)
			}
			value = filepath.Join(t.TempDir(), "secret")
			if err := os.WriteFile(value, []byte("postgres://gluepot:hunter2@db.example/gluepot"), 0o600); err != nil {
				t.Fatal(err)
			}
			if name == "GLUEPOT_NOTIFY_URL_FILE" {
				if err := os.WriteFile(value, []byte("https://hooks.example/hidden"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		variables = append(variables, name+"="+value)
	}
	if code, _, stderr := program.Run(t, variables, "config"); code != 0 {
		t.Errorf("got exit code %d and %s, want the settings accepted", code, stderr)
	}
}

func wantValid(t *testing.T, documents []byte) {
	t.Helper()
	if out, err := validate(documents); err != nil || !regexp.MustCompile(`Valid: [1-9]`).Match(out) ||
		!bytes.Contains(out, []byte("Skipped: 0")) {
		t.Errorf("got %s and %v, want all objects valid", out, err)
	}
}

func validate(documents []byte) ([]byte, error) {
	cmd := exec.Command(*kubeconform, "-strict", "-summary", "-schema-location",
		schemas+"/{{.ResourceKind}}{{.KindSuffix}}.json", "-")
	cmd.Stdin = bytes.NewReader(documents)
	return cmd.CombinedOutput()
}

// definition is a schema of the document.
type definition map[string]any

// writeSchemas writes a JSON schema for each kind of version 1 in the document. It allows no other members.
func writeSchemas(document, folder string) error {
	content, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	var parsed struct{ Definitions map[string]definition }
	if err := json.Unmarshal(content, &parsed); err != nil {
		return err
	}
	for name, d := range parsed.Definitions {
		switch {
		case strings.HasSuffix(name, ".util.intstr.IntOrString"):
			d["type"] = []string{"string", "integer"}
		case strings.HasSuffix(name, ".api.resource.Quantity"):
			d["type"] = []string{"string", "number"}
		case d["properties"] != nil && d["additionalProperties"] == nil:
			d["additionalProperties"] = false
		}
	}
	for name, d := range parsed.Definitions {
		group, version, kind := kindOf(d)
		if version != "v1" {
			continue
		}
		needed := make(map[string]definition)
		collect(parsed.Definitions, name, needed)
		schema, err := json.Marshal(map[string]any{"$ref": "#/definitions/" + name, "definitions": needed})
		if err != nil {
			return err
		}
		file := kind + "-" + version
		if group != "" {
			first, _, _ := strings.Cut(group, ".")
			file = kind + "-" + first + "-" + version
		}
		if err := os.WriteFile(filepath.Join(folder, strings.ToLower(file)+".json"), schema, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// kindOf returns what a definition is of, or nothing if it is part of others.
func kindOf(d definition) (group, version, kind string) {
	kinds, _ := d["x-kubernetes-group-version-kind"].([]any)
	if len(kinds) != 1 {
		return "", "", ""
	}
	of, _ := kinds[0].(map[string]any)
	group, _ = of["group"].(string)
	version, _ = of["version"].(string)
	kind, _ = of["kind"].(string)
	return group, version, kind
}

var reference = regexp.MustCompile(`"\$ref":"#/definitions/([^"]+)"`)

// collect adds a definition and all that it refers to.
func collect(all map[string]definition, name string, needed map[string]definition) {
	if needed[name] != nil {
		return
	}
	needed[name] = all[name]
	text, _ := json.Marshal(all[name])
	for _, found := range reference.FindAllSubmatch(text, -1) {
		collect(all, string(found[1]), needed)
	}
}
