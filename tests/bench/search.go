package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The parts of syllables. Together they have about as many trigrams as English.
var (
	beginnings = strings.Fields(
		"b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p ph pl pr qu r s sc sh sl sp st str t th tr v w x z")
	vowels = strings.Fields("a e i o u y ai ea ee io oo ou")
	ends   = append(strings.Fields("b ck ct d g l ll m n nd ng nt p r rd s ss st t th x"), "", "", "")
)

// vocabulary generates code of 1 KiB from words, some of which are in most pastes and some in few.
type vocabulary struct {
	random *rand.Rand
	words  []string
	zipf   *rand.Zipf
}

func newVocabulary() *vocabulary {
	random := rand.New(rand.NewPCG(1, 2)) // the same in each run
	v := &vocabulary{random: random,
		words: strings.Fields("func return if err nil package import string int for range var struct")}
	for len(v.words) < 20_000 {
		var word strings.Builder
		for range 1 + random.IntN(3) {
			for _, parts := range [][]string{beginnings, vowels, ends} {
				word.WriteString(parts[random.IntN(len(parts))])
			}
		}
		v.words = append(v.words, word.String())
	}
	v.zipf = rand.NewZipf(random, 1.1, 5, uint64(len(v.words)-1))
	return v
}

func (v *vocabulary) code() string {
	var text strings.Builder
	for text.Len() < 1<<10 {
		text.WriteString(v.words[v.zipf.Uint64()])
		text.WriteString([]string{" ", " ", ".", "(", ") ", " := ", "\n\t", "\n"}[v.random.IntN(8)])
	}
	return text.String()
}

// searches measures searching, creating and rebuilding the index with this many public pastes of 1 KiB.
func (b *bench) searches(pastes int) error {
	stores := slices.DeleteFunc([]string{"SQLite", "PostgreSQL"}, func(store string) bool {
		return !b.wants(searchRows(store, pastes)...)
	})
	if len(stores) == 0 {
		return nil
	}
	v := newVocabulary()
	file := filepath.Join(b.folder, "searched.json")
	var text strings.Builder
	for i := range pastes {
		code, _ := json.Marshal(v.code()) // a string: cannot fail
		fmt.Fprintf(&text,
			`{"_id":"p%08d","ownerId":"u%d","createdAt":%d,"deletesAt":0,"isPublic":true,"title":"paste %d","pasties":[`+
				`{"_id":"a","title":"main.go","language":"Go","code":%s}]}`+"\n", i, 1+i%people, 1_700_000_000+i, i, code)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return err
	}
	for _, name := range stores {
		location := "sqlite://" + filepath.Join(b.folder, "searched.db")
		if name == "PostgreSQL" {
			postgres, err := b.createDatabase("searched")
			if err != nil {
				return err
			}
			location = postgres.String()
		}
		if err := b.searchesOf(name, location, file, pastes, v); err != nil {
			return err
		}
	}
	return nil
}

// searchRows returns the names of a store's rows: rebuilding, the latencies of searches, and creating over 1 and 8
// connections.
func searchRows(store string, pastes int) []string {
	const search = "search of %d public pastes of 1 KiB beside 100 reads a second, %s, 2 connections, %s in ms"
	const create = "POST /paste of 1 KiB, public, with search / without, %s, %d connections"
	return []string{
		"search rebuild, " + store + ", pastes/s",
		fmt.Sprintf(search, pastes, store, "p50"), fmt.Sprintf(search, pastes, store, "p99"),
		fmt.Sprintf(create, store, 1), fmt.Sprintf(create, store, 8),
	}
}

func (b *bench) searchesOf(name, database, file string, pastes int, v *vocabulary) error {
	if err := b.fillUsers(database); err != nil {
		return err
	}
	location := "GLUEPOT_DATABASE_URL=" + database
	if _, err := b.command([]string{location, "GLUEPOT_SEARCH=false"}, "import", "pastemyst",
		"--pastes", file); err != nil {
		return err
	}
	start := time.Now()
	if _, err := b.command([]string{location}, "search", "rebuild"); err != nil {
		return err
	}
	rate, rows := float64(pastes)/time.Since(start).Seconds(), searchRows(name, pastes)
	b.add(row{Name: rows[0], Ratio: rate, Floor: 1000})
	output, err := b.command([]string{location}, "token", "issue", "User1")
	if err != nil {
		return err
	}
	lines := strings.Fields(output) // the secret is the last one
	on, err := b.serve(database)
	if err != nil {
		return err
	}
	defer on.process.stop()
	if err := b.search(rows[1], rows[2], on, pastes, v); err != nil {
		return err
	}
	off, err := b.serve(database, "GLUEPOT_SEARCH=false")
	if err != nil {
		return err
	}
	defer off.process.stop()
	bodies := make([]string, 1000)
	for i := range bodies {
		code, _ := json.Marshal(v.code()) // a string: cannot fail
		bodies[i] = fmt.Sprintf(`[==[{"isPublic":true,"pasties":[{"title":"main.go","language":"Go","code":%s}]}]==]`, code)
	}
	script, err := b.lua("create-searched", fmt.Sprintf(`local bodies, n = {%s}, 0
request = function()
  n = n + 1
  return wrk.format("POST", nil, {["Authorization"] = "%s"}, bodies[n %% #bodies + 1])
end
`, strings.Join(bodies, ",\n"), lines[len(lines)-1]))
	if err != nil {
		return err
	}
	for i, connections := range []int{1, 8} {
		l := load{method: http.MethodPost, path: "/paste", script: script, connections: connections}
		if err := b.compare(rows[3+i], l.toward(on), l.toward(off), 0.4); err != nil {
			return err
		}
	}
	return nil
}

// command runs a command of Gluepot, and returns its output.
func (b *bench) command(settings []string, args ...string) (string, error) {
	command := exec.Command(b.gluepot, args...)
	command.Env, command.Dir = append(os.Environ(), settings...), b.folder
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w", args[0], err)
	}
	return string(out), err
}

// search measures searches for frequent, rare and unknown words, beside 100 reads a second. It adds rows with the names
// p50 and p99.
func (b *bench) search(p50, p99 string, on *side, pastes int, v *vocabulary) error {
	var paths []string
	for i := range 200 {
		word := v.words[i*len(v.words)/200]
		query := []string{word, word + "x", word + " return", `"` + word + ` "`}[i%4]
		paths = append(paths, fmt.Sprintf("%q", "/search?q="+url.QueryEscape(query)))
	}
	script, err := b.lua("search", fmt.Sprintf("local paths, n = {%s}, 0\nrequest = function()\n  n = n + 1\n"+
		"  return wrk.format(\"GET\", paths[n %% #paths + 1])\nend\n", strings.Join(paths, ",")))
	if err != nil {
		return err
	}
	done, readResult := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-done:
				readResult <- nil
				return
			case <-tick.C:
			}
			if _, err := exchange(load{to: on, path: fmt.Sprintf("/paste/p%08d", i*7919%pastes)}); err != nil {
				readResult <- err
				return
			}
		}
	}()
	result, err := b.wrk(load{to: on, path: "/search", script: script, connections: 2})
	close(done)
	if err != nil {
		return err
	}
	if err := <-readResult; err != nil {
		return err
	}
	b.add(row{Name: p50, Ratio: result.p50 / 1000, Floor: 80, atMost: true, absolute: fmt.Sprintf("%.0f", result.rate),
		resident: fmt.Sprintf("%.0f", on.process.residentMiB())})
	b.add(row{Name: p99, Ratio: result.p99 / 1000, Floor: 250, atMost: true})
	return nil
}
