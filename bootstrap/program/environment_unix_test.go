//go:build unix

package program

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestSecretsInPipes reads named pipes that somebody writes to, later or before, never closes, or never opens.
func TestSecretsInPipes(t *testing.T) {
	t.Parallel()
	const long = time.Minute
	for name, c := range map[string]struct {
		patience time.Duration
		write    func(t *testing.T, path string)
		want     string
	}{
		"written": {long, func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
				t.Error(err)
			}
		}, "secret\n"},
		"written later": {long, func(t *testing.T, path string) {
			time.Sleep(5 * pipeInterval)
			if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
				t.Error(err)
			}
		}, "secret\n"},
		"never opened": {5 * pipeInterval, nil, ""},
		"never closed": {5 * pipeInterval, func(t *testing.T, path string) {
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = file.Close() })
			if _, err := file.WriteString("secret\n"); err != nil {
				t.Error(err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			wrote := make(chan struct{})
			go func() {
				defer close(wrote)
				if c.write != nil {
					c.write(t, path)
				}
			}()
			if name == "never closed" {
				<-wrote
			}
			content, err := readWithin(path, c.patience)
			if string(content) != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v, want %q", content, err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), "nobody has written to it") {
				t.Errorf("got %v, want what it waited for", err)
			}
			<-wrote
		})
	}
}

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
	allSettings(flags, &cfg)
	if err := fillFromEnvironment(flags); err != nil || cfg.Database.URL != url {
		t.Errorf("got %v, %v, want what the command wrote", cfg.Database.URL, err)
	}
	if rereading(flags, cfg.Database) != nil {
		t.Error("got a pipe that is read again for each connection, want it read once")
	}
}
