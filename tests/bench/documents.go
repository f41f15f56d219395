package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"
)

const (
	pastyBytes = 2 << 10
	largeBytes = 1 << 20
)

// documents are the pastes of an installation with a pasty of pastyBytes; others have a few bytes. They are public,
// belong to various users, never expire, and are spread evenly over the pastes after those of the first three users.
type documents struct {
	count, stride int
	large         string // the path of a paste with largeBytes
	code          string // of pastyBytes
}

const firstDocument = 101_013

// pastyID is the id of the pasty of each paste.
const pastyID = "pasty001"

// documentOwners is how many users own documents. The first of them is number 4: see install.
const documentOwners = people - 4

// path returns a document's path.
func (d *documents) path(i int) string { return fmt.Sprintf("/paste/p%08d", firstDocument+i*d.stride) }

// token returns the Authorization header of a document's owner.
func (d *documents) token(i int) string {
	return fmt.Sprintf("Authorization: token%d", 4+(firstDocument+i*d.stride)%documentOwners)
}

// variant returns code of the same length that differs in a line.
func (d *documents) variant(number string) string {
	return strings.Replace(d.code, strings.Repeat("0", len(number)), number, 1)
}

// documents measures reading, creating and editing pastes with content.
func (b *bench) documents() error {
	type comparison struct {
		name        string
		load        func(*documents) (load, error)
		connections int
		floor       float64
	}
	const memory = "peak memory above idle / bytes in flight, 8 connections, 1 MiB"
	countName := "numPastes / twin, 32 connections"
	names := []string{memory, pageKept, pageNotKept, countName}
	comparisons := []comparison{
		{"GET /paste/{id} of 2 KiB", b.readLoad, 1, 1},
		{"GET /paste/{id} of 2 KiB", b.readLoad, 32, 1.5},
		{"POST /paste of 2 KiB", b.createLoad, 8, 0.7},
		{"POST /paste of 2 KiB", b.createLoad, 32, 0.8},
		{"PATCH /paste/{id} of 2 KiB", b.editLoad, 8, 0.6},
	}
	for i := range comparisons {
		c := &comparisons[i]
		c.name = fmt.Sprintf("%s / plain gin and GORM, %d connections", c.name, c.connections)
		names = append(names, c.name)
	}
	if !b.wants(names...) {
		return nil
	}
	in, err := b.largeInstallation()
	if err != nil {
		return err
	}
	switch onDisk, err := in.commitsOnDisk(); {
	case err != nil:
		return err
	case !onDisk:
		b.progressf("the server answers commits before they are on disk")
	}
	docs, err := b.fillDocuments(in)
	if err != nil {
		return err
	}
	for _, c := range comparisons {
		l, err := c.load(docs)
		if err != nil {
			return err
		}
		l.connections = c.connections
		if err := b.compare(c.name, l.toward(in.gluepot), l.toward(in.gorm), c.floor); err != nil {
			return err
		}
	}
	l := load{path: "/data/numPastes", connections: 32}
	if err := b.compare(countName, l.toward(in.gluepot), l.toward(in.twin), 1.5); err != nil {
		return err
	}
	if err := b.pages(in, docs); err != nil {
		return err
	}
	if b.wants(memory) {
		if err := b.peak(in, docs, memory); err != nil {
			return err
		}
	}
	return in.exec(`VACUUM pastes`, `VACUUM pasties`, `VACUUM paste_edits`, `VACUUM paste_counts`)
}

// commitsOnDisk reports whether the server answers a commit only when it is on disk.
func (i *installation) commitsOnDisk() (bool, error) {
	for _, setting := range []string{"fsync", "synchronous_commit"} {
		var value string
		if err := i.db.QueryRow("SHOW " + setting).Scan(&value); err != nil || value != "on" {
			return false, err
		}
	}
	return true, nil
}

// fillDocuments makes some pastes public and gives them pastyBytes, and checks that both sides answer the same for
// them.
func (b *bench) fillDocuments(in *installation) (*documents, error) {
	d := &documents{count: 50_000}
	if b.quick {
		d.count = 20_000
	}
	// Every fourth paste is anonymous, but none of the documents.
	d.stride = (b.pastes - firstDocument) / d.count / 4 * 4
	if d.stride == 0 {
		return nil, errors.New("too few pastes")
	}
	var code strings.Builder
	code.WriteString("package main // 000000000000\n\nimport \"fmt\"\n\nfunc main() {\n")
	for line := 1; code.Len() < pastyBytes-100; line++ {
		fmt.Fprintf(&code, "\tif x%d := %d; x%d < 1000 && x%d > 0 {\n\t\tfmt.Println(\"line\", x%d)\n\t}\n", line, line*17,
			line, line, line)
	}
	code.WriteString("}\n// ")
	d.code = code.String() + strings.Repeat("-", pastyBytes-code.Len()-1) + "\n"

	answer, err := exchange(load{
		to: in.gluepot, method: http.MethodPost, path: "/paste", body: draft(strings.Repeat(d.code, largeBytes/pastyBytes)),
	})
	if err != nil {
		return nil, err
	}
	var large struct {
		ID string `json:"_id"`
	}
	if err := json.Unmarshal(answer, &large); err != nil {
		return nil, err
	}
	d.large = "/paste/" + large.ID
	const selection = `FROM generate_series(%d, %d, %d) x WHERE %s = ('p' || lpad(x::text, 8, '0')) COLLATE "C"`
	last := firstDocument + (d.count-1)*d.stride
	statement := fmt.Sprintf(`UPDATE pasties SET code = $1 `+selection, firstDocument, last, d.stride, "paste_id")
	if _, err := in.db.Exec(statement, d.code); err != nil {
		return nil, err
	}
	if err := in.exec(
		fmt.Sprintf(`UPDATE pastes SET visibility = 1, content_bytes = content_bytes + %d `+selection,
			len(d.code)-1, firstDocument, last, d.stride, "id"),
		`VACUUM ANALYZE pastes`, `VACUUM ANALYZE pasties`, `CHECKPOINT`,
	); err != nil {
		return nil, err
	}
	return d, d.agree(in)
}

// draft returns the body of a request that creates a paste with this code.
func draft(code string) string {
	text, _ := json.Marshal(code) // a string: cannot fail
	return fmt.Sprintf(`{"title":"a paste","pasties":[{"title":"main.go","language":"Go","code":%s}]}`, text)
}

// changes returns the body of a request that changes the code of the pasty.
func (d *documents) changes(code string) string {
	text, _ := json.Marshal(code) // a string: cannot fail
	return fmt.Sprintf(`{"pasties":[{"_id":"%s","code":%s}]}`, pastyID, text)
}

// varying matches the values that differ between two pastes with the same content.
var varying = regexp.MustCompile(`"(_id|ownerId|createdAt|editedAt)":("\w*"|\d+)`)

// agree fails unless both sides answer the same.
func (d *documents) agree(in *installation) error {
	createBody, editBody := draft(d.code), d.changes(d.variant("123456789012"))
	for _, c := range []struct {
		gluepot, other load
		mask           bool // values that differ
	}{
		{gluepot: load{path: "/user/User7"}, other: load{to: in.gorm, path: "/user/User7"}},
		{gluepot: load{path: d.path(7)}, other: load{to: in.gorm, path: d.path(7)}},
		{gluepot: load{path: "/data/numPastes"}, other: load{to: in.twin, path: "/data/numPastes"}},
		{
			load{method: http.MethodPatch, path: d.path(0), header: d.token(0), body: editBody},
			load{to: in.gorm, method: http.MethodPatch, path: d.path(1), header: d.token(1), body: editBody}, true,
		},
		{gluepot: load{path: d.path(0)}, other: load{to: in.gorm, path: d.path(0)}},
		{gluepot: load{path: d.path(1)}, other: load{to: in.gorm, path: d.path(1)}},
		{
			load{method: http.MethodPost, path: "/paste", body: createBody},
			load{to: in.gorm, method: http.MethodPost, path: "/paste", body: createBody}, true,
		},
	} {
		ours, err := exchange(c.gluepot.toward(in.gluepot))
		if err != nil {
			return err
		}
		theirs, err := exchange(c.other)
		if err != nil {
			return err
		}
		if c.mask {
			ours, theirs = varying.ReplaceAll(ours, []byte(`"$1":0`)), varying.ReplaceAll(theirs, []byte(`"$1":0`))
		}
		var left, right any
		if err := errors.Join(json.Unmarshal(ours, &left), json.Unmarshal(theirs, &right)); err != nil {
			return err
		}
		if !reflect.DeepEqual(left, right) {
			return fmt.Errorf("%s %s: got\n%.3000s\nfrom Gluepot, want the twin's\n%.3000s", c.gluepot.method,
				c.gluepot.path, ours, theirs)
		}
	}
	return nil
}

// exchange sends the request of a load once.
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

// luaPath is the path of document number n in Lua.
const luaPath = `string.format("/paste/p%%08d", %d + n * %d)`

func (b *bench) readLoad(d *documents) (load, error) {
	script, err := b.lua("read",
		fmt.Sprintf("local n = 0\nrequest = function()\n  n = (n + 7919) %% %d\n  return wrk.format(\"GET\", "+
			luaPath+")\nend\n", d.count, firstDocument, d.stride))
	return load{path: d.path(7), script: script}, err
}

func (b *bench) createLoad(d *documents) (load, error) {
	body := draft(d.code)
	script, err := b.lua("create", fmt.Sprintf("wrk.method, wrk.body = \"POST\", [==[%s]==]\n", body))
	return load{method: http.MethodPost, path: "/paste", script: script, body: body}, err
}

// editLoad edits so many pastes that each gets only a few edits, so that the history, which an edit reads and answers,
// stays short. A round begins with a random paste.
func (b *bench) editLoad(d *documents) (load, error) {
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
`, before, after, d.count, d.count, firstDocument, d.stride, documentOwners))
	return load{method: http.MethodPatch, path: d.path(7), script: script}, err
}

// peak measures the memory that a separate server needs for long answers.
func (b *bench) peak(in *installation, d *documents, name string) error {
	server, err := b.serve(in.url)
	if err != nil {
		return err
	}
	l := load{to: server, path: d.large, connections: 8}
	if err := waitReady(server.address + "/readyz"); err != nil {
		return err
	}
	time.Sleep(500 * time.Millisecond) // until it is idle
	idle := server.process.residentMiB()
	answer, err := exchange(l)
	if err != nil {
		return err
	}
	if _, err := b.wrk(l); err != nil {
		return err
	}
	peakMiB := statusMiB(server.process.cmd.Process.Pid, "VmHWM")
	server.process.stop()
	flight := float64(l.connections*len(answer)) / (1 << 20)
	b.add(row{
		Name: name, Ratio: (peakMiB - idle) / flight, Floor: 4, atMost: true,
		absolute: fmt.Sprintf("%.1f MiB, idle %.1f", peakMiB, idle),
	})
	return nil
}
