package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestListFindStar lists, finds and stars pastes by command.
func TestListFindStar(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL)
	address := "http://" + server.Address
	p := newPerson(t)
	p.fails(2, "", []string{"find", "needle"}, "no server given")
	p.settings = append(p.settings, "GLUEPOT_SERVER="+address)
	visible := strings.TrimSpace(p.ok("", "push", p.file("plain.txt", "nothing")))
	for _, args := range [][]string{{"list", "--starred"}, {"list", "--sort", "title"}, {"star", visible}} {
		p.fails(2, "", args, "gluepot login "+address)
	}
	p.ok(program.EpoxyToken, "login", address)
	var ids []string
	for i := range 3 {
		file := p.file(fmt.Sprintf("file%d.go", i), "package needles // \x1b[31m\n")
		link := p.ok("", "push", "--public", "--tags", "mine", file)
		ids = append(ids, path.Base(strings.TrimSpace(link)))
	}
	for _, c := range []struct {
		args   []string
		wanted []string // ids, in order
	}{
		{[]string{"list", "--tag", "mine"}, []string{ids[2], ids[1], ids[0]}},
		{[]string{"list", "--tag", "mine", "--limit", "2"}, []string{ids[2], ids[1]}},
		{[]string{"list", "--title", "FILE1"}, []string{ids[1]}},
		{[]string{"list", "--sort", "title", "--tag", "mine", "--limit", "0"}, ids},
		{[]string{"list", "--starred", "--tag", ""}, nil},
		{[]string{"find", "needles"}, []string{ids[2], ids[1], ids[0]}},
		{[]string{"find", "needles", "language:go", "--limit", "1"}, []string{ids[2]}},
		{[]string{"find", "nowhere"}, nil},
	} {
		table := p.ok("", c.args...)
		var read []struct {
			ID string `json:"_id"`
		}
		text := p.ok("", append(c.args, "--json")...)
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatalf("%q: got %q, %v, want JSON", c.args, text, err)
		}
		var got []string
		for _, one := range read {
			got = append(got, one.ID)
		}
		if c.args[1] == "--starred" { // those of the fixture
			continue
		}
		if strings.Join(got, " ") != strings.Join(c.wanted, " ") {
			t.Errorf("%q: got %q, want %q", c.args, got, c.wanted)
		}
		at := 0
		for _, id := range c.wanted {
			index := strings.Index(table[at:], id)
			if index < 0 || !strings.HasPrefix(table, "ID ") || strings.Contains(table, "\x1b") {
				t.Errorf("%q: got %q, want a table of %q", c.args, table, c.wanted)
				break
			}
			at += index
		}
	}
	if table := p.ok("", "find", "needles", "--limit", "1"); !strings.Contains(table, `1: package needles // \u001b[31m`) {
		t.Errorf("got %q, want the line that matches", table)
	}
	id := ids[0]
	for _, c := range []struct{ args, want string }{
		{"star " + address + "/" + id, "Stars: 1\n"}, {"star " + id, "Stars: 1\n"}, {"star --remove " + id, "Stars: 0\n"},
		{"star --remove " + id, "Stars: 0\n"},
	} {
		if out := p.ok("", strings.Fields(c.args)...); out != c.want {
			t.Errorf("%s: got %q, want %q", c.args, out, c.want)
		}
	}
	p.fails(1, "", []string{"star", "unknown0"}, "There is no paste with that id.")
	p.fails(1, "", []string{"find", "ne"}, "at least 3 characters")
	p.fails(1, "", []string{"list", "--sort", "stars"}, "created, edited or title")
	p.fails(2, "", []string{"find", "x", "--limit", "-1"}, "--limit is negative")
}

// TestListIsBounded checks that the client stops if a server sends more than was asked for, or pages without end.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		args   []string
		code   int
	}{
		"many pastes":   {`{"items":[` + strings.Repeat(`{},`, 10<<20) + `{}]}`, []string{"list"}, 1},
		"null":          {`{"items":[null]}`, []string{"list"}, 1},
		"no array":      {`{"items":{}}`, []string{"find", "x"}, 1},
		"another shape": {`{"items":[{"_id":5}]}`, []string{"list"}, 1},
		"an empty page": {`{"items":[],"next":"x"}`, []string{"list", "--limit", "0"}, 0},
		"escapes": {
			`{"items":[{"_id":"abcdefgh","title":"\u001b[31m"}],"next":"x"}`, []string{"list", "--limit", "3"}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/user/self" {
					_, _ = io.WriteString(w, `{"username":"me"}`)
					return
				}
				_, _ = io.WriteString(w, c.answer)
			}))
			defer odd.Close()
			p := newPerson(t)
			p.ok(program.EpoxyToken, "login", odd.URL)
			process := program.StartShipped(t, p.settings, c.args...)
			memory, code := peakMemory(t, process), process.Wait()
			printed := process.Stdout.String() + process.Stderr.String()
			if code != c.code || memory > 300 || strings.Contains(printed, "\x1b") || len(printed) > 2000 {
				t.Errorf("got exit code %d, %d MiB and %.500q, want %d", code, memory, printed, c.code)
			}
		})
	}
}
