// Package embedding shows, compiled and tested, how other programs use Gluepot.
package embedding_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// configuration is one with a database of its own in a temporary folder.
func configuration() (cfg bootstrap.Config, remove func()) {
	folder, err := os.MkdirTemp("", "gluepot-example-")
	if err != nil {
		panic(err)
	}
	cfg = bootstrap.DefaultConfig()
	cfg.Database.URL = "sqlite://" + filepath.Join(folder, "gluepot.db")
	return cfg, func() { _ = os.RemoveAll(folder) }
}

// A worker asks the use cases directly: no HTTP, no environment.
func Example_useCases() {
	cfg, remove := configuration()
	defer remove()
	ctx := context.Background()
	gluepot, stop, err := bootstrap.Open(ctx, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx) //nolint:errcheck // an example

	if _, err := gluepot.Users.Create.Do(ctx, users.CreateInput{Name: "Epoxy", PublicProfile: true}); err != nil {
		fmt.Println(err)
	}
	profile, err := gluepot.Users.ShowProfile.Do(ctx, "epoxy")
	fmt.Println(profile.Name, profile.DefaultLanguage, err)
	_, err = gluepot.Users.ShowProfile.Do(ctx, "nobody")
	fmt.Println(err)
	// Output:
	// Epoxy Autodetect <nil>
	// There is no such user.
}

// A bot creates a paste of a user who gave it a token, and reads it as the user, as somebody else, and as the program itself may.
func Example_pastes() {
	cfg, remove := configuration()
	defer remove()
	cfg.Pastes.Rules.Limits.ContentBytes = 1 << 20
	ctx := context.Background()
	gluepot, stop, err := bootstrap.Open(ctx, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx) //nolint:errcheck // an example

	if _, err := gluepot.Users.Create.Do(ctx, users.CreateInput{Name: "Epoxy"}); err != nil {
		fmt.Println(err)
	}
	_, secret, err := gluepot.Tokens.Issue.Do(ctx, "epoxy", tokens.IssueInput{Name: "bot", ExpiresIn: time.Hour})
	if err != nil {
		fmt.Println(err)
	}
	code, week := "package main\n", "1w"
	viewer, err := gluepot.Tokens.SignIn.Do(ctx, secret.Reveal())
	if err != nil {
		fmt.Println(err)
	}
	made, err := gluepot.Pastes.CreateOwn.Do(ctx, viewer, "", paste.Draft{
		Title: "From a bot", Private: true, Lifetime: &week, Pasties: []paste.PastyDraft{{Title: "main.go", Code: &code}},
	})
	fmt.Println(made.Title, made.Pasties[0].Language, made.ExpiresAt.Sub(made.CreatedAt.Truncate(time.Second)), err)

	read, err := gluepot.Pastes.Read.Do(ctx, viewer, string(made.ID))
	fmt.Printf("%q %v\n", read.Pasties[0].Code, err)
	_, err = gluepot.Pastes.Read.Do(ctx, token.Viewer{}, string(made.ID))
	fmt.Println(fault.Is(err, fault.NotFound), err)
	shown, err := gluepot.Pastes.Show.Do(ctx, string(made.ID))
	fmt.Println(shown.Visibility, err)
	// Output:
	// From a bot Go 168h0m0s <nil>
	// "package main\n" <nil>
	// true There is no paste with that id.
	// private <nil>
}

// A server of another kind mounts the HTTP interface, under a path of its own, beside what it serves itself.
func Example_handler() {
	cfg, remove := configuration()
	defer remove()
	cfg.AllowPendingMigrations = true // /readyz says so
	cfg.SweepInterval = time.Minute   // as "gluepot serve" does
	ctx, log := context.Background(), zap.NewNop()
	gluepot, stop, err := bootstrap.Open(ctx, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx) //nolint:errcheck // an example

	settings := httpapi.DefaultConfig()
	settings.BasePath = "/snippets"
	modules := httpapi.Modules{Users: gluepot.Users, Pastes: gluepot.Pastes, Languages: gluepot.Languages}
	api, err := httpapi.New(settings, modules, gluepot.Ready, log)
	if err != nil {
		fmt.Println(err)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/snippets/", api)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "something else") })
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
	go func() { _ = server.Serve(listener) }()

	for _, path := range []string{"/snippets/data/numPastes", "/elsewhere"} {
		response, err := http.Get("http://" + listener.Addr().String() + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		fmt.Println(response.StatusCode, string(body))
	}
	api.StartDraining() // so that /readyz fails
	fmt.Println(server.Shutdown(ctx))
	// Output:
	// 200 {"numPastes":0}
	// 200 something else
	// <nil>
}
