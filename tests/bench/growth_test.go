package main

import (
	"os"
	"testing"
)

// TestScriptsOfTwoPopulations checks that the scripts for two sizes, both of which exist before wrk reads one, differ.
func TestScriptsOfTwoPopulations(t *testing.T) {
	t.Parallel()
	b := &bench{folder: t.TempDir()}
	large := &population{name: "growth", pastes: 1_000_000, body: "large"}
	small := &population{name: "growth_smallest", pastes: 10_000, body: "small"}
	for name, loadOf := range map[string]func(*population) (load, error){"reading": b.readAllLoad,
		"creating": b.createMoreLoad} {
		var scripts []string
		for _, p := range []*population{large, small} {
			l, err := loadOf(p)
			if err != nil {
				t.Fatal(err)
			}
			scripts = append(scripts, l.script)
		}
		var texts []string
		for _, script := range scripts {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		if texts[0] == texts[1] {
			t.Errorf("%s: got the same requests for %d pastes as for %d: %s", name, large.pastes, small.pastes, texts[0])
		}
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{1, 3}, 2}, {[]float64{9, 1, 8, 2}, 5},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("%v: got %v, want %v", c.values, got, c.want)
		}
	}
}
