//go:build unix

package program

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spf13/pflag"
)

// TestSecretOfACommand reads the pipe that a shell makes for <(…).
func TestSecretOfACommand(t *testing.T) {
	const url = "postgres://u:secret@127.0.0.1:1/d"
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // it was only read
	go func() {
		_, _ = writer.WriteString(url + "\n")
		_ = writer.Close()
	}()
	path := filepath.Join("/dev/fd", strconv.Itoa(int(reader.Fd())))
	t.Setenv("GLUEPOT_DATABASE_URL_FILE", path)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg := defaultConfig()
	addSettings(flags, &cfg, allSettings...)
	if err := complete(flags, cfg); err != nil || cfg.Database.URL != url {
		t.Errorf("got %v, %v, want what the command wrote", cfg.Database.URL, err)
	}
	if settingOf(t, flags, "database-url").reread() != nil {
		t.Error("got a function that reads the pipe again, want nil")
	}
}
