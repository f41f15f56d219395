package main

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// createSQLite creates an SQLite file with Gluepot's tables, and fills it with the statements.
func (b *bench) createSQLite(path string, statements ...string) error {
	migrate := exec.Command(b.gluepot, "migrate", "up")
	migrate.Env, migrate.Dir = append(os.Environ(), "GLUEPOT_DATABASE_URL=sqlite://"+path), b.folder
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate: %w: %s", err, out)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	in := &installation{db: db}
	return errors.Join(in.exec(statements...), db.Close())
}

// numbers returns the beginning of an SQLite statement that selects n from 1 to count.
func numbers(count int) string {
	return fmt.Sprintf("WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < %d) ", count)
}

// embeddedPastes returns statements that create users, and this many pastes of the first one, each of one pasty with
// this code.
func embeddedPastes(count int, code string) []string {
	values := fmt.Sprintf("'never', 'paste ' || n, false, 1, 0, 0, %d, 0", len(code))
	return []string{
		numbers(2) + `INSERT INTO users (id, username, avatar_url, default_language,
			public_profile, supporter_months, contributor, created_at)
			SELECT 'u' || n, 'User' || n, '', 'Go', true, 0, false, n FROM n`,
		numbers(count) + `INSERT INTO pastes (` + pasteColumns + `)
			SELECT printf('p%08d', n), 'u1', n * 1000000, NULL, 1, ` + values + ` FROM n`,
		numbers(count) + `INSERT INTO pasties (paste_id, position, id, title, language, code)
			SELECT printf('p%08d', n), 0, '` + pastyID + `', 'main.go', 'Go', '` + strings.ReplaceAll(code, "'", "''") +
			`' FROM n`,
	}
}

// rawText compares the text of a pasty with a program that a user would write instead.
func (b *bench) rawText() error {
	const name = "raw text of 2 KiB on SQLite / plain gin, GORM and SQLite, 8 connections"
	const pastes = 10_000
	if !b.wants(name) {
		return nil
	}
	path := filepath.Join(b.folder, "raw.db")
	code := strings.Repeat("\tprintln(\"hello\")\n", pastyBytes/18)
	if err := b.createSQLite(path, embeddedPastes(pastes, code)...); err != nil {
		return err
	}
	gluepot, err := b.serve("sqlite://" + path)
	if err != nil {
		return err
	}
	defer gluepot.process.stop()
	process, err := b.start(b.twinPath, nil, "TWIN_SQLITE_FILE="+path)
	if err != nil {
		return err
	}
	defer process.stop()
	addresses, err := process.twinAddresses(1)
	if err != nil {
		return err
	}
	script, err := b.lua("raw", fmt.Sprintf("local n = 0\nrequest = function()\n  n = n %% %d + 1\n"+
		"  return wrk.format(\"GET\", string.format(\"/raw/p%%08d/%s\", n))\nend\n", pastes, pastyID))
	if err != nil {
		return err
	}
	l := load{path: "/raw/p00000001/" + pastyID, script: script, connections: 8}
	plain := &side{addresses[0], process}
	for _, to := range []*side{gluepot, plain} {
		if text, err := exchange(l.toward(to)); err != nil || string(text) != code {
			return fmt.Errorf("raw text: got %.200s, %w, want the code", text, err)
		}
	}
	return b.compare(name, l.toward(gluepot), l.toward(plain), 1)
}

// lists measures the lists of a user with very many pastes, who has starred all of them.
func (b *bench) lists() error {
	const memory = "resident memory after lists of %d pastes, MiB"
	pastes := 200_000
	if b.quick {
		pastes = 50_000
	}
	pages := []string{
		"/~User1", "/~User1?title=missing", "/recent", "/recent?title=missing", "/starred", "/pastes",
		"/pastes?sort=edited", "/pastes?sort=title", "/pastes?title=missing", "/search?q=println", "/search?q=missing",
	}
	name := func(page string) string { return fmt.Sprintf("%s of %d pastes, SQLite, p50 in ms", page, pastes) }
	names := []string{fmt.Sprintf(memory, pastes)}
	for _, page := range pages {
		names = append(names, name(page))
	}
	if !b.wants(names...) {
		return nil
	}
	path, secret := filepath.Join(b.folder, "lists.db"), "session"
	statements := append(embeddedPastes(pastes, "\tprintln(\"hello\")\n"),
		numbers(pastes)+`INSERT INTO stars SELECT 'u1', printf('p%08d', n), n FROM n`,
		numbers(pastes)+`INSERT INTO paste_texts (paste_id, public, titles, text, tags, languages)
			SELECT printf('p%08d', n), true, 'paste ' || n || char(10), 'paste ' || n || char(10) || 'println("hello")' ||
			char(10), char(10), char(10) || 'go' || char(10) FROM n`,
		fmt.Sprintf(`INSERT INTO access_tokens (id, user_id, kind, scope, hash, name, created_at, expires_at)
			VALUES ('k1', 'u1', 1, 0, x'%x', '', unixepoch() * 1000000, unixepoch() * 1000000 + 1e12)`,
			sha256.Sum256([]byte(secret))))
	if err := b.createSQLite(path, statements...); err != nil {
		return err
	}
	server, err := b.serve("sqlite://"+path, "GLUEPOT_RECENT=true")
	if err != nil {
		return err
	}
	defer server.process.stop()
	for _, page := range pages {
		if !b.wants(name(page), names[0]) {
			continue
		}
		result, err := b.wrk(load{to: server, path: page, header: "Cookie: gluepot-session=" + secret, connections: 1})
		if err != nil {
			return err
		}
		b.add(row{Name: name(page), Ratio: result.p50 / 1000, Floor: 100, atMost: true,
			absolute: fmt.Sprintf("%.0f", result.rate), p99: milliseconds(result.p99),
			resident: fmt.Sprintf("%.0f", server.process.residentMiB())})
	}
	b.add(row{Name: names[0], Ratio: server.process.residentMiB(), Floor: 96, atMost: true})
	return nil
}
