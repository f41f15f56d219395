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
	p.wantFailure(2, "", []string{"find", "needle"}, "no server given")
	p.settings = append(p.settings, "GLUEPOT_SERVER="+address)
	link := strings.TrimSpace(p.mustRun("", "push", p.file("plain.txt", "nothing")))
	for _, args := range [][]string{{"list", "--starred"}, {"list", "--sort", "title"}, {"star", link}} {
		p.wantFailure(2, "", args, "gluepot login "+address)
	}
	p.mustRun(program.EpoxyToken, "login", address)
	var ids []string
	for i := range 3 {
		file := p.file(fmt.Sprintf("file%d.go", i), "package needles // \x1b[31m\n")
		link := p.mustRun("", "push", "--public", "--tags", "mine", file)
		ids = append(ids, path.Base(strings.TrimSpace(link)))
	}
	for _, c := range []struct {
		args []string
		want []string // ids, in order
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
		table := p.mustRun("", c.args...)
		var items []struct {
			ID string `json:"_id"`
		}
		text := p.mustRun("", append(c.args, "--json")...)
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			t.Fatalf("%q: got %q, %v, want JSON", c.args, text, err)
		}
		var got []string
		for _, item := range items {
			got = append(got, item.ID)
		}
		if c.args[1] == "--starred" { // the fixture's own stars
			continue
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%q: got %q, want %q", c.args, got, c.want)
		}
		at := 0
		for _, id := range c.want {
			index := strings.Index(table[at:], id)
			if index < 0 || !strings.HasPrefix(table, "ID ") || strings.Contains(table, "\x1b") {
				t.Errorf("%q: got %q, want a table of %q", c.args, table, c.want)
				break
			}
			at += index
		}
	}
	table := p.mustRun("", "find", "needles", "--limit", "1")
	if !strings.Contains(table, `1: package needles // \u001b[31m`) {
		t.Errorf("got %q, want the matching line", table)
	}
	id := ids[0]
	for _, c := range []struct{ args, want string }{
		{"star " + address + "/" + id, "Stars: 1\n"}, {"star " + id, "Stars: 1\n"}, {"star --remove " + id, "Stars: 0\n"},
		{"star --remove " + id, "Stars: 0\n"},
	} {
		if out := p.mustRun("", strings.Fields(c.args)...); out != c.want {
			t.Errorf("%s: got %q, want %q", c.args, out, c.want)
		}
	}
	p.wantFailure(1, "", []string{"star", "unknown0"}, "There is no paste with that id.")
	p.wantFailure(1, "", []string{"find", "ne"}, "at least 3 characters")
	p.wantFailure(1, "", []string{"list", "--sort", "stars"}, "created, edited or title")
	p.wantFailure(2, "", []string{"find", "x", "--limit", "-1"}, "--limit is negative")
}

// TestListIsBounded checks that the client copes with a server that sends too much, endless pages, or nonsense.
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
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/user/self" {
					_, _ = io.WriteString(w, `{"username":"me"}`)
					return
				}
				_, _ = io.WriteString(w, c.answer)
			}))
			defer server.Close()
			p := newPerson(t)
			p.mustRun(program.EpoxyToken, "login", server.URL)
			process := program.StartShipped(t, p.settings, c.args...)
			memory, code := peakMemory(t, process), process.Wait()
			output := process.Stdout.String() + process.Stderr.String()
			if code != c.code || memory > 300 || strings.Contains(output, "\x1b") || len(output) > 2000 {
				t.Errorf("got exit code %d, %d MiB and %.500q, want exit code %d", code, memory, output, c.code)
			}
		})
	}
}
