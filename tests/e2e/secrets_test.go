package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestPasswordsAreNotLogged serves with a password in the options of the database URL.
func TestPasswordsAreNotLogged(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	address, err := url.Parse(cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	if address.RawQuery != "" {
		address.RawQuery += "&"
	}
	address.RawQuery += "sslpassword=s3;hunter2"
	cfg.URL = address.String()
	server := program.Serve(t, cfg.URL)
	wantStatus(t, server, "/readyz", http.StatusOK)
	line := server.WaitForLog("serving")
	if line["database"] != gormstore.URL(cfg.URL).String() || strings.Contains(server.Stderr.String(), "hunter2") {
		t.Errorf("got %v, want the database %s and no password", line, cfg.URL)
	}
}
