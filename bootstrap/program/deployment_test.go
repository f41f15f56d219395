package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/gluepot/gluepot/adapters/httpapi"
)

// TestDeployment checks that every variable in the files that installations begin with is a setting.
func TestDeployment(t *testing.T) {
	t.Parallel()
	settings, variable := variableNames(), regexp.MustCompile(environmentPrefix+`[A-Z_]+`)
	for _, pattern := range []string{"Dockerfile", "compose.yaml", "docs/operations/systemd/*.service",
		"docs/operations/kubernetes/*", "docs/operations/helm/values.yaml",
		"docs/operations/helm/templates/deployment.yaml"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: got %v and %v, want files", pattern, files, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			names := variable.FindAllString(string(content), -1)
			if len(names) == 0 {
				t.Errorf("%s: got no settings, want some", file)
			}
			for _, name := range names {
				if !slices.Contains(settings, name) {
					t.Errorf("%s: got %s, want only settings", file, name)
				}
			}
		}
	}
}

// TestTrustedProxiesOfManifest checks that the manifest trusts no network until an operator names one.
func TestTrustedProxiesOfManifest(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/operations/kubernetes/gluepot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	value := regexp.MustCompile(`GLUEPOT_HTTP_TRUSTED_PROXIES, value: (.*)}`).FindSubmatch(content)
	if value == nil {
		t.Fatal("got no GLUEPOT_HTTP_TRUSTED_PROXIES, want it in the manifest")
	}
	cfg := defaultConfig()
	cfg.HTTP.TrustedProxies = []string{string(value[1])}
	if err := cfg.Validate(); err == nil {
		t.Errorf("got a server that trusts %s, want it to refuse to start", value[1])
	}
}

// TestManifests checks the objects of the Kubernetes manifests, and that the probes ask for paths of the server.
func TestManifests(t *testing.T) {
	t.Parallel()
	type probe struct {
		HTTPGet struct{ Path string } `yaml:"httpGet"`
	}
	type object struct {
		Kind string
		Spec struct {
			Replicas int
			Template struct {
				Spec struct {
					Containers []struct {
						LivenessProbe  probe `yaml:"livenessProbe"`
						ReadinessProbe probe `yaml:"readinessProbe"`
					}
				}
			}
		}
	}
	var kinds []string
	for _, file := range []string{"gluepot.yaml", "migrate.yaml", "backup.yaml"} {
		content, err := os.ReadFile("../../docs/operations/kubernetes/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
			var manifest object
			if err := decoder.Decode(&manifest); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: got %v, want no error", file, err)
			}
			kinds = append(kinds, manifest.Kind)
			if manifest.Kind != "Deployment" {
				continue
			}
			containers := manifest.Spec.Template.Spec.Containers
			if manifest.Spec.Replicas != 3 || len(containers) != 1 {
				t.Fatalf("got %d replicas of %d containers, want 3 of 1", manifest.Spec.Replicas, len(containers))
			}
			if live, ready := containers[0].LivenessProbe.HTTPGet.Path,
				containers[0].ReadinessProbe.HTTPGet.Path; live != httpapi.PathAlive ||
				ready != httpapi.PathReady {
				t.Errorf("got probes at %q and %q, want %q and %q", live, ready, httpapi.PathAlive, httpapi.PathReady)
			}
		}
	}
	want := []string{"Deployment", "Service", "PodDisruptionBudget", "Job", "PersistentVolumeClaim", "CronJob"}
	if !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}

// TestTraefik checks the file for Traefik, which no test runs. The file must define what it names, have a health check
// for a path of the server, and close idle connections, as the files of the other proxies do.
func TestTraefik(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/operations/proxies/traefik.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		HTTP struct {
			Routers map[string]struct {
				Rule, Service string
				Middlewares   []string
			}
			Middlewares map[string]any
			Services    map[string]struct {
				LoadBalancer struct {
					HealthCheck      struct{ Path string } `yaml:"healthCheck"`
					ServersTransport string                `yaml:"serversTransport"`
				} `yaml:"loadBalancer"`
			}
			ServersTransports map[string]struct {
				MaxIdleConnsPerHost int `yaml:"maxIdleConnsPerHost"`
			} `yaml:"serversTransports"`
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	router := file.HTTP.Routers["gluepot"]
	for _, name := range router.Middlewares {
		if file.HTTP.Middlewares[name] == nil {
			t.Errorf("got the middleware %s, want it in the file", name)
		}
	}
	balancer := file.HTTP.Services[router.Service].LoadBalancer
	transport := file.HTTP.ServersTransports[balancer.ServersTransport]
	if router.Rule != "Host(`paste.example`)" || balancer.HealthCheck.Path != httpapi.PathReady ||
		transport.MaxIdleConnsPerHost >= 0 {
		t.Errorf("got %+v, want a router with a service, a health check at %s, and no idle connections",
			file.HTTP, httpapi.PathReady)
	}
}

// TestShippedBackups checks that the timer and the cron job run a valid command.
func TestShippedBackups(t *testing.T) {
	t.Parallel()
	for file, pattern := range map[string]string{
		"systemd/gluepot-backup.service": `(?m)^ExecStart=/usr/local/bin/gluepot (.*)$`,
		"kubernetes/backup.yaml":         `(?m)args: \[(.*)\]$`,
	} {
		content, err := os.ReadFile("../../docs/operations/" + file)
		if err != nil {
			t.Fatal(err)
		}
		match := regexp.MustCompile(pattern).FindSubmatch(content)
		if match == nil {
			t.Fatalf("%s: got no command, want one", file)
		}
		args := strings.Fields(strings.NewReplacer(",", "", `"`, "").Replace(string(match[1])))
		cmd, rest, err := Command().Find(args)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Fatalf("%s: got %v, want no error", file, err)
		}
		if keep, err := cmd.Flags().GetInt("keep"); err != nil || cmd.Name() != "backup" || keep != 7 ||
			cmd.Flags().NArg() != 1 {
			t.Errorf("%s: got %q, want a backup that keeps seven in one folder", file, args)
		}
	}
}

// TestPublicService checks that each of the files has the limits of a public service, the same in all, and memory for
// its connections.
func TestPublicService(t *testing.T) {
	t.Parallel()
	assignment := regexp.MustCompile(`(GLUEPOT_[A-Z_]+)(?:: |=|, value: )"?([^"\s}]+)`)
	memory := regexp.MustCompile(`(?:mem_limit: |MemoryMax=|limits: {memory: )([0-9]+)`)
	first := make(map[string]string)
	for _, file := range []string{"compose.yaml", "docs/operations/systemd/gluepot.service",
		"docs/operations/kubernetes/gluepot.yaml", "docs/operations/helm/values.yaml"} {
		content, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		values := make(map[string]string)
		for _, match := range assignment.FindAllStringSubmatch(string(content), -1) {
			values[match[1]] = match[2]
		}
		cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
		addSettings(flags, &cfg, allSettings...)
		for _, name := range []string{
			"limit-rate", "limit-burst", "limit-failed-sign-ins", "limit-anonymous-pastes", "user-max-pastes", "user-max-bytes",
			"user-pastes-per-hour", "store-max-bytes", "anonymous-max-lifetime", "http-max-connections",
		} {
			value := values[environmentName(name)]
			if err := flags.Set(name, value); err != nil || value == "0" {
				t.Errorf("%s: got %s=%q, %v, want a limit", file, environmentName(name), value, err)
			}
			if first[name] == "" {
				first[name] = value
			}
			if value != first[name] && name != "http-max-connections" { // which are in proportion to the memory
				t.Errorf("%s: got %s=%s, want %s as in the other files", file, environmentName(name), value, first[name])
			}
		}
		if value := values["GLUEPOT_HTTP_MAX_MEMORY"]; value != "" {
			if err := flags.Set("http-max-memory", value); err != nil {
				t.Errorf("%s: got %v, want no error", file, err)
			}
		}
		if err := cfg.Validate(); err != nil || cfg.Pastes.AnonymousLifetimes.Longest != "1m" {
			t.Errorf("%s: got %v and anonymous pastes for %s, want a month", file, err, cfg.Pastes.AnonymousLifetimes.Longest)
		}
		match := memory.FindSubmatch(content)
		if match == nil {
			t.Fatalf("%s: got no limit of memory, want one", file)
		}
		megabytes, err := strconv.Atoi(string(match[1]))
		if want := 128<<20 + cfg.HTTP.MaxMemory + 48<<10*cfg.Server.MaxConnections; err != nil || megabytes<<20 < want {
			t.Errorf("%s: got %d MiB of memory, want at least %d (docs/CONFIGURATION.md)", file, megabytes, want>>20)
		}
	}
}

// TestSizesOfTmpfs checks that every tmpfs in the files has a size. Without one, it may fill half of the machine's
// memory.
func TestSizesOfTmpfs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a: {tmpfs: /tmp}": false, "a: {tmpfs: ['/tmp:size=64m', '/run']}": false,
		"a: {tmpfs: ['/tmp:mode=1777,size=64m']}": true,
		"volumes: [{type: tmpfs, target: /tmp}]":  false, "volumes: [{type: tmpfs, target: /tmp, tmpfs: {size: 64m}}]": true,
		"emptyDir: {}": false, "emptyDir:": false, "emptyDir: {medium: Memory, sizeLimit: 64Mi}": true,
		"volumes: [postgres:/data]":           true,
		"[Service]\nTemporaryFileSystem=/tmp": false, "[Service]\nTemporaryFileSystem=/tmp:size=64M": true,
	} {
		if got := hasSizes(t, []byte(text)); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
	for _, pattern := range []string{"compose.yaml", "docs/operations/systemd/*.service", "docs/operations/kubernetes/*"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: got %v and %v, want files", pattern, files, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !hasSizes(t, content) {
				t.Errorf("%s: got a tmpfs or an emptyDir without a size, want a size", file)
			}
		}
	}
}

// hasSizes reports whether each tmpfs and emptyDir of YAML documents, or of a unit of systemd, has a size.
func hasSizes(t *testing.T, content []byte) bool {
	t.Helper()
	if bytes.Contains(content, []byte("[Service]")) {
		for _, match := range regexp.MustCompile(`(?m)^TemporaryFileSystem=.*`).FindAll(content, -1) {
			if !bytes.Contains(match, []byte("size=")) {
				return false
			}
		}
		return true
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var document any
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return true
		} else if err != nil {
			t.Fatal(err)
		}
		if !nodeHasSizes(document) {
			return false
		}
	}
}

func nodeHasSizes(node any) bool {
	switch node := node.(type) {
	case []any:
		return !slices.ContainsFunc(node, func(part any) bool { return !nodeHasSizes(part) })
	case map[string]any:
		if node["type"] == "tmpfs" && node["tmpfs"] == nil {
			return false
		}
		for key, value := range node {
			has := true
			switch key {
			case "emptyDir":
				has = strings.Contains(fmt.Sprint(value), "sizeLimit:")
			case "tmpfs": // a map, a text or a list of texts
				texts, ok := value.([]any)
				if !ok {
					texts = []any{value}
				}
				has = !slices.ContainsFunc(texts, func(text any) bool {
					return !regexp.MustCompile(`size[:=]`).MatchString(fmt.Sprint(text))
				})
			}
			if !has || !nodeHasSizes(value) {
				return false
			}
		}
	}
	return true
}
