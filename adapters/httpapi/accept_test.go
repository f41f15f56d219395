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
		if prefersProblem([]string{accept}) != want {
			t.Errorf("%q: got %v, want %v", accept, !want, want)
		}
	}
}
