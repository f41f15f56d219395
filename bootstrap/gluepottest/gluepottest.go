// Package gluepottest gives each test of a program that embeds Gluepot a database of its own.
package gluepottest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/gluepot/gluepot/bootstrap"
)

// SQLite returns the default configuration with an empty database in the test's folder.
func SQLite(tb testing.TB) bootstrap.Config {
	tb.Helper()
	return on("sqlite://" + filepath.ToSlash(filepath.Join(tb.TempDir(), "gluepot.db")))
}

// PostgresAt returns the default configuration with an empty database on the server of a URL, such as
// postgres://postgres@localhost/postgres. The user of the URL must be allowed to create databases. The database is
// dropped when the test ends.
func PostgresAt(tb testing.TB, server string) bootstrap.Config {
	tb.Helper()
	database, err := url.Parse(server)
	if err != nil {
		tb.Fatal("gluepottest: the URL of the server cannot be parsed") // err quotes it, with its password
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		tb.Fatalf("gluepottest: %v", err)
	}
	name := "gluepottest_" + strings.ToLower(rand.Text())
	if _, err := admin.ExecContext(tb.Context(), "CREATE DATABASE "+name); err != nil {
		tb.Fatalf("gluepottest: create a database: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("gluepottest: drop the database: %v", err)
		}
		_ = admin.Close()
	})
	database.Path = "/" + name
	return on(database.String())
}

func on(database string) bootstrap.Config {
	cfg := bootstrap.DefaultConfig()
	cfg.Database.URL = database
	return cfg
}

// Open calls bootstrap.Open, and stops the application when the test ends.
func Open(tb testing.TB, cfg bootstrap.Config) *bootstrap.Application {
	tb.Helper()
	app, stop, err := bootstrap.Open(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(fmt.Errorf("gluepottest: %w", err))
	}
	tb.Cleanup(func() {
		if err := stop(context.Background()); err != nil {
			tb.Errorf("gluepottest: %v", err)
		}
	})
	return app
}
