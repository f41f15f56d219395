// Package embedding shows, compiled and tested, how other programs use Gluepot.
package embedding_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
)

// configuration is one with a database of its own in a temporary folder.
func configuration() (cfg bootstrap.Config, remove func()) {
	folder, err := os.MkdirTemp("", "gluepot-example-")
	if err != nil {
		panic(err)
	}
	cfg = bootstrap.DefaultConfig()
	cfg.Database.URL = gormstore.URL("sqlite://" + filepath.Join(folder, "gluepot.db"))
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

	if _, err := gluepot.CreateUser.Do(ctx, users.New{Name: "Epoxy", PublicProfile: true}); err != nil {
		fmt.Println(err)
	}
	profile, err := gluepot.ShowProfile.Do(ctx, "epoxy")
	fmt.Println(profile.Name, profile.DefaultLanguage, err)
	_, err = gluepot.ShowProfile.Do(ctx, "nobody")
	fmt.Println(err)
	// Output:
	// Epoxy Autodetect <nil>
	// There is no such user.
}

// A server of another kind mounts the whole interface under a path of its own.
func Example_handler() {
	cfg, remove := configuration()
	defer remove()
	cfg.HTTP.BasePath = "/snippets"
	ctx := context.Background()
	api, stop, err := bootstrap.OpenHandler(ctx, cfg, zap.NewNop())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop(ctx) //nolint:errcheck // an example

	mux := http.NewServeMux()
	mux.Handle("/snippets/", api)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "something else") })
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, path := range []string{"/snippets/data/numPastes", "/elsewhere"} {
		response, err := http.Get(server.URL + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		fmt.Println(response.StatusCode, string(body))
	}
	// Output:
	// 200 {"numPastes":0}
	// 200 something else
}
