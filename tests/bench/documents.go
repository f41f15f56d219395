package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	pastyBytes = 2 << 10
	largeBytes = 1 << 20
)

// documents are the pastes of an installation that hold a pasty of pastyBytes; the others hold a few bytes. They are public,
// owned by various users, never expire, and lie evenly among those beyond the pastes of the first three users.
type documents struct {
	count, stride int
	pasty         string // the id of the pasty of each
	large         string // the path of a paste with largeBytes
	code          string // of pastyBytes
}

const firstDocument = 101_013

// owned are how many users own documents, the first of whom is number 4: see install.
const owned = people - 4

// path returns a document's path.
func (d *documents) path(i int) string { return fmt.Sprintf("/paste/p%08d", firstDocument+i*d.stride) }

// token returns the Authorization header of a document's owner.
func (d *documents) token(i int) string {
	return fmt.Sprintf("Authorization: token%d", 4+(firstDocument+i*d.stride)%owned)
}

// variant returns code of the same length that differs in a line.
func (d *documents) variant(number string) string {
	return strings.Replace(d.code, strings.Repeat("0", len(number)), number, 1)
}

// documents measures what reads, creates and edits pastes with content.
func (b *bench) documents(in *installation) error {
	onDisk, err := in.commitsOnDisk()
	if err != nil {
		return err
	}
	commits := "commits on disk"
	if !onDisk {
		commits = "commits not on disk"
	}
	type comparison struct {
		name        string
		load        func(*documents) (load, error)
		connections int
		target      float64
		p99         bool
	}
	comparisons := []comparison{}
	for _, at := range []struct {
		connections int
		target      float64
	}{{1, 0.95}, {8, 0.95}, {32, 1.4}, {128, 1.7}} {
		comparisons = append(comparisons, comparison{"GET /paste/{id} of 2 KiB / twin", b.reading, at.connections, at.target, true})
	}
	comparisons = append(
		comparisons,
		comparison{"GET /paste/{id} of 1 MiB / twin", b.readingLarge, 8, 0.95, false},
		comparison{"POST /paste of 2 KiB, " + commits + " / twin", b.creating, 8, 0.9, false},
		comparison{"POST /paste of 2 KiB, " + commits + " / twin", b.creating, 32, 0.9, false},
		comparison{"PATCH /paste/{id} of 2 KiB, " + commits + " / twin", b.editing, 8, 0.85, false},
		comparison{"numPastes / twin", b.counted, 32, 2, false},
	)
	const memory = "peak memory above idle / bytes in flight, 8 connections, 1 MiB"
	names := []string{memory, pageKept, pageNotKept}
	for i, c := range comparisons {
		comparisons[i].name = fmt.Sprintf("%s, %d connections", c.name, c.connections)
		names = append(names, comparisons[i].name)
	}
	if !slices.ContainsFunc(names, b.only.MatchString) {
		return nil
	}
	stored, err := b.fillDocuments(in)
	if err != nil {
		return err
	}
	for _, c := range comparisons {
		l, err := c.load(stored)
		if err != nil {
			return err
		}
		l.connections = c.connections
		measure := b.compare
		if c.p99 {
			measure = b.compareWithP99
		}
		if err := measure(c.name, l.toward(in.gluepot), l.toward(in.twin), c.target); err != nil {
			return err
		}
	}
	if err := b.pages(in, stored); err != nil {
		return err
	}
	if b.only.MatchString(memory) {
		if err := b.peak(in, stored, memory); err != nil {
			return err
		}
	}
	return in.exec(`VACUUM pastes`, `VACUUM paste_contents`, `VACUUM paste_edits`, `VACUUM paste_counts`)
}

// commitsOnDisk reports whether the server answers a commit when the disk has it.
func (i *installation) commitsOnDisk() (bool, error) {
	for _, setting := range []string{"fsync", "synchronous_commit"} {
		var value string
		if err := i.db.QueryRow("SHOW " + setting).Scan(&value); err != nil || value != "on" {
			return false, err
		}
	}
	return true, nil
}

// fillDocuments gives every paste content, as Gluepot stores it, and sees that both sides answer the same for it.
func (b *bench) fillDocuments(in *installation) (*documents, error) {
	d := &documents{count: 50_000}
	if b.quick {
		d.count = 20_000
	}
	d.stride = (b.pastes - firstDocument) / d.count / 4 * 4 // every fourth paste is nobody's, and firstDocument is none of them
	if d.stride == 0 {
		return nil, errors.New("there are too few pastes")
	}
	var code strings.Builder
	code.WriteString("package main // 000000000000\n\nimport \"fmt\"\n\nfunc main() {\n")
	for line := 1; code.Len() < pastyBytes-100; line++ {
		fmt.Fprintf(&code, "\tif x%d := %d; x%d < 1000 && x%d > 0 {\n\t\tfmt.Println(\"line\", x%d)\n\t}\n", line, line*17, line, line, line)
	}
	code.WriteString("}\n// ")
	d.code = code.String() + strings.Repeat("-", pastyBytes-code.Len()-1) + "\n"

	ids := make([]string, 0, 3)
	for _, code := range []string{d.code, "x", strings.Repeat(d.code, largeBytes/pastyBytes)} {
		answer, err := exchange(load{to: in.gluepot, method: http.MethodPost, path: "/paste", body: draft(code)})
		if err != nil {
			return nil, err
		}
		var made struct {
			ID      string `json:"_id"`
			Pasties []struct {
				ID string `json:"_id"`
			} `json:"pasties"`
		}
		if err := json.Unmarshal(answer, &made); err != nil {
			return nil, err
		}
		if ids = append(ids, made.ID); d.pasty == "" {
			d.pasty = made.Pasties[0].ID
		}
	}
	d.large = "/paste/" + ids[2]
	last := firstDocument + (d.count-1)*d.stride
	if err := in.exec(
		// The foreign key would be looked at for each row.
		`ALTER TABLE paste_contents DISABLE TRIGGER ALL`,
		fmt.Sprintf(`INSERT INTO paste_contents (paste_id, lifetime, document)
			SELECT 'p' || lpad(x::text, 8, '0'), c.lifetime, c.document FROM generate_series(1, %d) x
			JOIN paste_contents c ON c.paste_id = CASE WHEN x BETWEEN %d AND %d AND (x - %d) %% %d = 0 THEN '%s' ELSE '%s' END`,
			b.pastes, firstDocument, last, firstDocument, d.stride, ids[0], ids[1]),
		`ALTER TABLE paste_contents ENABLE TRIGGER ALL`,
		fmt.Sprintf(`UPDATE pastes SET visibility = 1
			FROM generate_series(%d, %d, %d) x WHERE id = ('p' || lpad(x::text, 8, '0')) COLLATE "C"`, firstDocument, last, d.stride),
		`VACUUM ANALYZE pastes`, `VACUUM ANALYZE paste_contents`, `CHECKPOINT`,
	); err != nil {
		return nil, err
	}
	return d, d.agree(in)
}

// draft is the body of a request that creates a paste with that code.
func draft(code string) string {
	text, _ := json.Marshal(code) // a string: cannot fail
	return fmt.Sprintf(`{"title":"a paste","pasties":[{"title":"main.go","language":"Go","code":%s}]}`, text)
}

// changes is the body of a request that changes the code of the pasty.
func (d *documents) changes(code string) string {
	text, _ := json.Marshal(code) // a string: cannot fail
	return fmt.Sprintf(`{"pasties":[{"_id":"%s","code":%s}]}`, d.pasty, text)
}

// varying are the values that differ between two pastes of the same content.
var varying = regexp.MustCompile(`"(_id|ownerId|createdAt|editedAt)":("\w*"|\d+)`)

// agree fails unless both sides answer the same.
func (d *documents) agree(in *installation) error {
	created, edited := draft(d.code), d.changes(d.variant("123456789012"))
	for _, c := range []struct {
		gluepot, twin load
		masked        bool
	}{
		{gluepot: load{path: d.path(7)}, twin: load{path: d.path(7)}},
		{gluepot: load{path: d.large}, twin: load{path: d.large}},
		{gluepot: load{path: "/data/numPastes"}, twin: load{path: "/data/numPastes"}},
		{
			load{method: http.MethodPatch, path: d.path(0), header: d.token(0), body: edited},
			load{method: http.MethodPatch, path: d.path(1), header: d.token(1), body: edited}, true,
		},
		{gluepot: load{path: d.path(0)}, twin: load{path: d.path(0)}},
		{gluepot: load{path: d.path(1)}, twin: load{path: d.path(1)}},
		{load{method: http.MethodPost, path: "/paste", body: created}, load{method: http.MethodPost, path: "/paste", body: created}, true},
	} {
		ours, err := exchange(c.gluepot.toward(in.gluepot))
		if err != nil {
			return err
		}
		theirs, err := exchange(c.twin.toward(in.twin))
		if err != nil {
			return err
		}
		if c.masked {
			ours, theirs = varying.ReplaceAll(ours, []byte("$1")), varying.ReplaceAll(theirs, []byte("$1"))
		}
		if !bytes.Equal(ours, theirs) {
			return fmt.Errorf("%s %s: Gluepot answers\n%.3000s\nand the twin\n%.3000s", c.gluepot.method, c.gluepot.path, ours, theirs)
		}
	}
	return nil
}

// exchange does the request once.
func exchange(l load) ([]byte, error) {
	request, err := http.NewRequest(cmp.Or(l.method, http.MethodGet), l.to.address+l.path, strings.NewReader(l.body))
	if err != nil {
		return nil, err
	}
	if name, value, ok := strings.Cut(l.header, ": "); ok {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %.200s", request.Method, l.path, response.Status, answer)
	}
	return answer, err
}

// An id in Lua, of the document number n.
const luaPath = `string.format("/paste/p%%08d", %d + n * %d)`

func (b *bench) reading(d *documents) (load, error) {
	script, err := b.lua("read", fmt.Sprintf("local n = 0\nrequest = function()\n  n = (n + 7919) %% %d\n  return wrk.format(\"GET\", "+
		luaPath+")\nend\n", d.count, firstDocument, d.stride))
	return load{path: d.path(7), script: script}, err
}

func (b *bench) readingLarge(d *documents) (load, error) { return load{path: d.large}, nil }

func (b *bench) counted(*documents) (load, error) { return load{path: "/data/numPastes"}, nil }

func (b *bench) creating(d *documents) (load, error) {
	body := draft(d.code)
	script, err := b.lua("create", fmt.Sprintf("wrk.method, wrk.body = \"POST\", [==[%s]==]\n", body))
	return load{method: http.MethodPost, path: "/paste", script: script, body: body}, err
}

// editing edits so many pastes that each gets a few edits at most: the history, which an edit reads and answers with, stays
// as short as it was. A round begins anywhere among them.
func (b *bench) editing(d *documents) (load, error) {
	const place = "############"
	before, after, _ := strings.Cut(d.changes(d.variant(place)), place)
	script, err := b.lua("edit", fmt.Sprintf(`local before, after = [==[%s]==], [==[%s]==]
math.randomseed(os.time())
local n, version = math.random(%d), math.random(1000000) * 100000
request = function()
  n, version = (n + 7919) %% %d, version + 1
  local id = %d + n * %d
  return wrk.format("PATCH", string.format("/paste/p%%08d", id), {["Authorization"] = "token" .. (4 + id %% %d)},
    before .. string.format("%%012.0f", version) .. after)
end
`, before, after, d.count, d.count, firstDocument, d.stride, owned))
	return load{method: http.MethodPatch, path: d.path(7), script: script}, err
}

// peak measures the memory that a server of its own takes for long answers: with Go's default setting of the garbage
// collector, and as it is shipped (decision 0013).
func (b *bench) peak(in *installation, d *documents, name string) error {
	for _, setting := range []struct{ name, environment string }{{"GOGC=100", "GOGC=100"}, {"as shipped", "GOGC="}} {
		server, err := b.serve(in.url, setting.environment)
		if err != nil {
			return err
		}
		l := load{to: server, path: d.large, connections: 8}
		if err := waitReady(server.address + "/readyz"); err != nil {
			return err
		}
		time.Sleep(500 * time.Millisecond) // until it has no more to do
		idle := server.process.residentMiB()
		answer, err := exchange(l)
		if err != nil {
			return err
		}
		if _, err := b.wrk(l); err != nil {
			return err
		}
		most := statusMiB(server.process.cmd.Process.Pid, "VmHWM")
		server.process.stop()
		flight := float64(l.connections*len(answer)) / (1 << 20)
		b.add(row{
			Name: name + ", " + setting.name, Ratio: (most - idle) / flight, Target: 4, atMost: true,
			absolute: fmt.Sprintf("%.1f MiB, idle %.1f", most, idle),
		})
	}
	return nil
}
