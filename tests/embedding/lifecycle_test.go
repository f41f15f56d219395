package embedding_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/bootstrap/program"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
)

func TestMain(m *testing.M) {
	// The first that listens for signals starts a goroutine of Go's own, which never ends.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	os.Exit(database.Main(m))
}

// patience is how long anything may take that a test waits for.
const patience = time.Minute

// These tests count the goroutines of the process, so they run one after another.

// leavesNothing fails the test when do leaves a goroutine behind. Some end a moment after they were told to.
func leavesNothing(t *testing.T, do func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	do()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			var stacks bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Fatalf("got %d goroutines left behind, want none:\n%s", runtime.NumGoroutine()-before, &stacks)
		}
	}
}

func sqlite(t *testing.T) bootstrap.Config {
	t.Helper()
	cfg := bootstrap.DefaultConfig()
	cfg.Database = database.SQLite(t)
	return cfg
}

func postgres(t *testing.T) (bootstrap.Config, *faultproxy.Proxy) {
	t.Helper()
	cfg := bootstrap.DefaultConfig()
	proxy, through := faultproxy.Start(t, database.Postgres(t))
	cfg.Database = through
	return cfg, proxy
}

// A deferred stop often gets a context that has ended: that of a request, or of the signal.
func TestStopWithCancelledContext(t *testing.T) {
	for name, cfg := range map[string]bootstrap.Config{"sqlite": sqlite(t), "postgres": first(postgres(t))} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t, func() {
				ctx, cancel := context.WithCancel(context.Background())
				gluepot, stop, err := bootstrap.Open(ctx, cfg)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := gluepot.Users.Create.Do(ctx, audit.Operator(), users.CreateInput{Name: "epoxy"}); err != nil {
					t.Error(err)
				}
				cancel()
				if err := stop(ctx); err != nil {
					t.Error(err)
				}
				if _, err := gluepot.Users.Show.Do(context.Background(), audit.Operator(), "epoxy"); err == nil {
					t.Error("after the stop: got an answer of the database, want an error")
				}
			})
		})
	}
}

func first[A, B any](a A, _ B) A { return a }

// TestFailedOpens opens what cannot be opened, at each step at which it can fail.
func TestFailedOpens(t *testing.T) {
	unreachable := bootstrap.DefaultConfig()
	unreachable.Database.URL = "postgres://gluepot@127.0.0.1:1/gluepot"
	withStandby := unreachable
	withStandby.ReadURL = unreachable.Database.URL
	aFile := bootstrap.DefaultConfig()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	aFile.Database.URL = "sqlite://" + path + "/gluepot.db"
	notADatabase := bootstrap.DefaultConfig()
	garbage := filepath.Join(t.TempDir(), "garbage.db")
	if err := os.WriteFile(garbage, bytes.Repeat([]byte("garbage "), 1024), 0o600); err != nil {
		t.Fatal(err)
	}
	notADatabase.Database.URL = "sqlite://" + garbage
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, attempt := range map[string]struct {
		ctx context.Context
		cfg bootstrap.Config
	}{
		"a database that is away":      {context.Background(), unreachable},
		"a database and a standby":     {context.Background(), withStandby},
		"a folder that is a file":      {context.Background(), aFile},
		"a file that is no database":   {context.Background(), notADatabase},
		"a context that ended, sqlite": {cancelled, sqlite(t)},
		"a context that ended":         {cancelled, first(postgres(t))},
	} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t, func() {
				for range 10 {
					if _, _, err := bootstrap.Open(attempt.ctx, attempt.cfg); err == nil {
						t.Fatal("got it opened, want an error")
					}
				}
			})
		})
	}
}

// TestCancelledWhileOpening gives up on a database that accepts connections and says nothing.
func TestCancelledWhileOpening(t *testing.T) {
	cfg, proxy := postgres(t)
	leavesNothing(t, func() {
		proxy.Stall()
		for range 3 {
			opened := proxy.Opened()
			ctx, cancel := context.WithCancel(context.Background())
			failed := make(chan error, 1)
			go func() {
				_, _, err := bootstrap.Open(ctx, cfg)
				failed <- err
			}()
			for deadline := time.Now().Add(patience); proxy.Opened() == opened && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			cancel()
			select {
			case err := <-failed:
				if err == nil {
					t.Error("got it opened, want an error")
				}
			case <-time.After(patience):
				t.Fatalf("got nothing within %v of cancelling, want an end", patience)
			}
		}
		proxy.Resume()
	})
}

// TestHangingDatabase leaves a database that hangs to itself, and says what is lost, to all who stop at once.
func TestHangingDatabase(t *testing.T) {
	cfg, proxy := postgres(t)
	leavesNothing(t, func() {
		gluepot, stop, err := bootstrap.Open(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gluepot.Users.Create.Do(t.Context(), audit.Operator(), users.CreateInput{Name: "epoxy"}); err != nil {
			t.Fatal(err)
		}
		_, secret, err := gluepot.Tokens.Issue.Do(t.Context(), audit.Operator(), "epoxy", tokens.IssueInput{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gluepot.Tokens.SignIn.Do(t.Context(), secret.Reveal()); err != nil {
			t.Fatal(err)
		}
		proxy.Stall()
		const calls = 3
		stopped := make(chan error, calls)
		for range calls {
			go func() { stopped <- stop(context.Background()) }()
		}
		for range calls {
			select {
			case err := <-stopped:
				if err == nil || !strings.Contains(err.Error(), "last-used times of 1 tokens are lost") {
					t.Errorf("got %v, want it to say that last-used times are lost", err)
				}
			case <-time.After(patience):
				t.Fatalf("got nothing within %v, want an end without the database", patience)
			}
		}
		proxy.Resume()
	})
}

// output collects what the program writes.
type output struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.String()
}

// TestRunIsStoppedByItsContext runs the whole program in this process.
func TestRunIsStoppedByItsContext(t *testing.T) {
	cfg := sqlite(t)
	leavesNothing(t, func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var stdout, stderr output
		code := make(chan int, 1)
		go func() {
			code <- program.Run(ctx, []string{
				"serve", "--database-url", cfg.Database.URL, "--http-addr", "127.0.0.1:0", "--http-drain-delay", "0s",
			}, nil, &stdout, &stderr)
		}()
		var address []string
		for deadline := time.Now().Add(patience); address == nil &&
			time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			address = regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(stderr.String())
		}
		if address == nil {
			t.Fatalf("got no address within %v, want one in the log: %s", patience, &stderr)
		}
		cancel()
		select {
		case got := <-code:
			if got != 0 {
				t.Errorf("got exit code %d, want 0: %s", got, &stderr)
			}
		case <-time.After(patience):
			t.Fatalf("got nothing within %v of cancelling, want an end", patience)
		}
		if connection, err := net.Dial("tcp", address[1]); err == nil {
			_ = connection.Close()
			t.Error("after the end: got a connection, want the port to be closed")
		}
		if !regexp.MustCompile(`"msg":"stopped"`).MatchString(stderr.String()) {
			t.Errorf("got the log %s, want \"stopped\" in it", &stderr)
		}
	})
}

// TestRunIsCancelledWhileStarting closes what the start had opened.
func TestRunIsCancelledWhileStarting(t *testing.T) {
	cfg, proxy := postgres(t)
	leavesNothing(t, func() {
		proxy.Stall()
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		var stdout, stderr output
		code := make(chan int, 1)
		go func() {
			arguments := []string{"serve", "--database-url", cfg.Database.URL, "--http-addr", "127.0.0.1:0"}
			code <- program.Run(ctx, arguments, nil, &stdout, &stderr)
		}()
		for deadline := time.Now().Add(patience); proxy.Opened() == 0 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		cancel(errors.New("the test"))
		select {
		case got := <-code:
			if want := "gluepot: stopped before the start was complete: the test\n"; got != 1 || stderr.String() != want {
				t.Errorf("got exit code %d, %q, want 1, %q", got, stderr.String(), want)
			}
		case <-time.After(patience):
			t.Fatalf("got nothing within %v of cancelling, want an end", patience)
		}
		proxy.Resume()
	})
}

// A program that embeds the use cases may print its configuration, or log it as JSON.
func TestConfigurationPrintsNoPassword(t *testing.T) {
	t.Parallel()
	cfg := bootstrap.DefaultConfig()
	cfg.Database.URL, cfg.ReadURL = "postgres://gluepot:hunter2@db/gluepot", "postgres://gluepot:hunter2@standby/gluepot"
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"%v": fmt.Sprintf("%v", cfg), "%+v": fmt.Sprintf("%+v", cfg), "%#v": fmt.Sprintf("%#v", cfg), "JSON": string(encoded),
		"a pointer": fmt.Sprintf("%+v", &cfg),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(text, "hunter2") || !strings.Contains(text, "@db:5432") || !strings.Contains(text,
				"@standby:5432") {
				t.Errorf("got %s, want both URLs without their passwords", text)
			}
		})
	}
}

// TestQuotaOfADay asks for a quota that Open could not give.
func TestQuotaOfADay(t *testing.T) {
	cfg := bootstrap.DefaultConfig()
	cfg.Pastes.AnonymousQuota = paste.Quota{Pastes: 10, Window: 24 * time.Hour}
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "quotas are for an hour") {
		t.Errorf("got %v, want it refused", err)
	}
}
