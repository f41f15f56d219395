package gormstore

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

func TestAgesDiffer(t *testing.T) {
	t.Parallel()
	now, most := time.Now(), time.Hour
	ends := make(map[time.Time]bool)
	for range 100 {
		end := aging{most}.end(now)
		if end.After(now.Add(most)) || end.Before(now.Add(most*8/10)) {
			t.Errorf("got an age of %v, want it in the last fifth of %v", end.Sub(now), most)
		}
		ends[end] = true
	}
	if len(ends) < 50 {
		t.Errorf("got %d ages of 100 connections, want them to differ", len(ends))
	}
}

// TestPasswordIsReadAgain connects to a server that refuses every password.
func TestPasswordIsReadAgain(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the test is over
	passwords := make(chan string, 1)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			passwords <- refuse(client)
		}
	}()
	cfg := DefaultConfig()
	cfg.URL = URL("postgres://gluepot:first@" + listener.Addr().String() + "/x?sslmode=disable")
	now, failure := cfg.URL, error(nil)
	cfg.Reread = func() (URL, []URL, error) { return now, nil, failure }
	store, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // nothing is open
	for _, c := range []struct {
		url     URL
		failure error
		want    string
	}{
		{cfg.URL, nil, "first"},
		{URL("postgres://other:second@elsewhere/y"), nil, "second"},
		{"", errors.New("the file is gone"), "first"},
		{"not a URL", nil, "first"},
	} {
		now, failure = c.url, c.failure
		if err := store.Connect(t.Context()); err == nil {
			t.Fatal("got a connection, want none")
		}
		if got := <-passwords; got != c.want {
			t.Errorf("got the password %q, want %q", got, c.want)
		}
	}
}

// refuse returns the password of a client that it then sends away.
func refuse(client net.Conn) string {
	defer client.Close() //nolint:errcheck // it has been told
	server := pgproto3.NewBackend(client, client)
	if _, err := server.ReceiveStartupMessage(); err != nil {
		return err.Error()
	}
	server.Send(&pgproto3.AuthenticationCleartextPassword{})
	if err := server.Flush(); err != nil {
		return err.Error()
	}
	if err := server.SetAuthType(pgproto3.AuthTypeCleartextPassword); err != nil {
		return err.Error()
	}
	message, err := server.Receive()
	if err != nil {
		return err.Error()
	}
	server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "password authentication failed"})
	_ = server.Flush()
	if answer, ok := message.(*pgproto3.PasswordMessage); ok {
		return answer.Password
	}
	return "no password"
}
