package httpapi

import (
	"strings"
	"testing"
	"time"
)

func TestValidateNamesEveryWrongValue(t *testing.T) {
	t.Parallel()
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	err := Config{Addr: "x", BasePath: "/:y", DrainDelay: -time.Second, TrustedProxies: []string{"z"}}.Validate()
	for _, part := range []string{
		`"x"`, `"/:y"`, `"z"`, "drain delay", "request timeout", "read timeout", "write timeout", "idle timeout", "drain timeout",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %s to be named in it", err, part)
		}
	}
}
