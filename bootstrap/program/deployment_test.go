package program

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gluepot/gluepot/adapters/httpapi"
)

// TestDeployment holds the files that installations begin with against the program: every variable is a setting.
func TestDeployment(t *testing.T) {
	t.Parallel()
	known, variable := knownVariables(), regexp.MustCompile(environmentPrefix+`[A-Z_]+`)
	for _, pattern := range []string{"Dockerfile", "compose.yaml", "docs/operations/systemd/*", "docs/operations/kubernetes/*"} {
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
				if !slices.Contains(known, name) {
					t.Errorf("%s: got %s, want settings alone", file, name)
				}
			}
		}
	}
}

// TestManifests reads the Kubernetes manifests: which objects there are, and that the probes ask where the server answers.
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
	for _, file := range []string{"gluepot.yaml", "migrate.yaml"} {
		content, err := os.ReadFile("../../docs/operations/kubernetes/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
			var found object
			if err := decoder.Decode(&found); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			kinds = append(kinds, found.Kind)
			if found.Kind != "Deployment" {
				continue
			}
			containers := found.Spec.Template.Spec.Containers
			if found.Spec.Replicas != 3 || len(containers) != 1 {
				t.Fatalf("got %d replicas of %d containers, want 3 of 1", found.Spec.Replicas, len(containers))
			}
			if live, ready := containers[0].LivenessProbe.HTTPGet.Path, containers[0].ReadinessProbe.HTTPGet.Path; live != httpapi.PathAlive ||
				ready != httpapi.PathReady {
				t.Errorf("got probes at %q and %q, want %q and %q", live, ready, httpapi.PathAlive, httpapi.PathReady)
			}
		}
	}
	if want := []string{"Deployment", "Service", "PodDisruptionBudget", "Job"}; !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}
