package httpapi

import (
	"testing"
)

func TestPrefersProblem(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/html, */*;q=0.1": false,
		"application/problem+json": true, "Application/Problem+JSON": true, "application/problem+json; q=0.1": true,
		"application/problem+json;q=0": false, "application/problem+json;q=x": false, ";;;,,,": false,
		"*/*, application/problem+json;q=0.1": false, "application/*;q=0.5, application/problem+json;q=0.1": false,
		"application/json;q=0.1, */*, application/problem+json;q=0.1": true, "application/problem+json, */*": true,
		"application/json;q=0.9, application/problem+json": true, "application/json, application/problem+json;q=0.9": false,
	} {
		if prefers([]string{accept}, mediaProblem, mediaJSON) != want {
			t.Errorf("%q: got %v, want %v", accept, !want, want)
		}
	}
}

func TestPrefersHTML(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/*": false, "application/json, text/html;q=0.9": false, "text/html;q=0": false,
		"*/*, text/html;q=0.1": false, "text/html": true, "Text/HTML;charset=utf-8": true, "text/html, application/json": true,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": true,
	} {
		if prefers([]string{accept}, mediaHTML, mediaJSON) != want {
			t.Errorf("%q: got %v, want %v", accept, !want, want)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for acceptEncoding, want := range map[string]bool{
		"": false, "identity": false, "br, zstd": false, "gzip;q=0": false, "*, gzip;q=0": false, "*;q=0": false, "gzipped": false,
		"gzip": true, "br, GZIP ; q=0.1": true, "*": true, "br;q=0, *;q=0.5": true,
	} {
		if acceptsGzip([]string{acceptEncoding}) != want {
			t.Errorf("%q: got %v, want %v", acceptEncoding, !want, want)
		}
	}
}

func TestQuality(t *testing.T) {
	t.Parallel()
	for parameters, want := range map[string]int{
		"": 1000, "charset=utf-8": 1000, "q=1": 1000, "Q=1.000": 1000, " q=0.5": 500, "charset=utf-8;q=0.25": 250, "q=0.125": 125, "q=0.": 0,
		"q=1.001": 0, "q=2": 0, "q=": 0, "q=.5": 0, "q=00.5": 0, "q=0.1234": 0, "q=-1": 0, "q=+": 0, "q=0.-1": 0, "q=0.1e1": 0, "q=1_0": 0,
	} {
		if got := quality(parameters); got != want {
			t.Errorf("%q: got %d, want %d", parameters, got, want)
		}
	}
}
