package e2e

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// export is the files of a PasteMyst installation as mongoexport writes them, with the odd records that years of use
// leave, and the state that an import of them must give.
type export struct {
	users, keys, pastes string // files
	want                exportState

	random *rand.Rand
	now    int64
}

// exportState is the state that the valid records of an export describe.
type exportState struct {
	users                                  []exportedUser
	active                                 int64 // number of pastes
	readUsers, readKeys, readPastes        int64
	rejectedUsers, rejectedKeys, badPastes int64
	reasons                                []string          // that the report must name
	codes                                  map[string]string // codes of some pastes that everybody may read, by id
}

type exportedUser struct {
	id, name, key   string
	public          bool
	view            string // the public view
	stars, services string // JSON
	pastes          []string
	created         map[string]int64
}

// id36 returns an id in the form of v2, which differs for each n.
func id36(prefix byte, n int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	id := []byte{prefix, '0', '0', '0', '0', '0', '0', '0'}
	for i := len(id) - 1; n > 0; i-- {
		id[i] = digits[n%36]
		n /= 36
	}
	return string(id)
}

// writeExport writes an export with this many users and pastes into folder. The same numbers give the same export.
func writeExport(folder string, users, pastes int) (*export, error) {
	e := &export{
		users: filepath.Join(folder, "users.json"), keys: filepath.Join(folder, "api-keys.json"),
		pastes: filepath.Join(folder, "pastes.json.gz"),
		random: rand.New(rand.NewPCG(1, uint64(pastes))), now: time.Now().Unix(),
	}
	planned, active := e.planPastes(users, pastes)
	if err := writeFile(e.users, false, func(w io.Writer) { e.writeUsers(w, users, pastes, active) }); err != nil {
		return nil, err
	}
	if err := writeFile(e.keys, false, func(w io.Writer) { e.writeKeys(w) }); err != nil {
		return nil, err
	}
	return e, writeFile(e.pastes, true, func(w io.Writer) { e.writePastes(w, planned) })
}

// plannedPaste is a paste of the owner with this index, or an anonymous one (-1).
type plannedPaste struct {
	id               string
	owner            int
	created, deletes int64
}

func (e *export) planPastes(users, pastes int) ([]plannedPaste, map[string]bool) {
	planned, active := make([]plannedPaste, pastes), make(map[string]bool, pastes)
	for i := range planned {
		p := plannedPaste{id: id36('p', i), owner: int(e.random.ExpFloat64()*float64(users)/20) % users,
			created: e.now - 1 - e.random.Int64N(4*365*86400)}
		if i%4 == 0 {
			p.owner = -1
		}
		switch i % 10 {
		case 0:
			p.deletes = e.now + 86400 + e.random.Int64N(365*86400)
		case 1:
			p.deletes = p.created + 1 // long expired
			if p.deletes >= e.now {
				p.deletes = 0
			}
		}
		planned[i] = p
		if p.deletes == 0 || p.deletes > e.now {
			active[p.id] = true
			e.want.active++
		}
	}
	return planned, active
}

func (e *export) writeUsers(w io.Writer, users, pastes int, active map[string]bool) {
	for i := range users {
		u := exportedUser{id: id36('u', i), name: fmt.Sprintf("User-%d.%c", i, 'a'+rune(i%26)), public: i%3 != 0,
			created: map[string]int64{}}
		stars, starred := []string{}, map[string]bool{}
		activeStars := []string{}
		for range e.random.IntN(6) {
			star := id36('p', e.random.IntN(pastes+pastes/10)) // some pastes do not exist
			stars = append(stars, star)
			if active[star] && !starred[star] {
				activeStars = append(activeStars, star)
			}
			starred[star] = true
		}
		services := map[string]string{"github": fmt.Sprint(1000 + i)}
		if i%5 == 0 {
			services["gitlab"] = fmt.Sprintf(`odd "id" \ ü %d`, i)
		}
		months := i % 40
		document := map[string]any{
			"_id": u.id, "username": u.name, "avatarUrl": "https://example.com/" + u.id + ".png?a=1&b=<2>",
			"serviceIds":    services,
			"publicProfile": u.public, "defaultLang": "C++", "stars": stars, "contributor": i%7 == 0,
			"supporterLength": extendedJSON(months),
		}
		if months == 0 { // older documents lack both
			delete(document, "supporterLength")
			delete(document, "contributor")
		}
		contributor := i%7 == 0 && months != 0
		u.view = fmt.Sprintf(
			`{"_id":%q,"username":%q,"avatarUrl":"https://example.com/%s.png?a=1&b=<2>","defaultLang":"C++",`+
				`"publicProfile":%v,"supporterLength":%d,"contributor":%v`,
			u.id, u.name, u.id, u.public, months, contributor)
		u.stars, u.services = toJSON(activeStars), toJSON(services)
		e.want.users = append(e.want.users, u)
		_, _ = fmt.Fprintln(w, toJSON(document))
		e.want.readUsers++
	}
	for _, bad := range []string{
		`{"_id":"bad00001","username":"user-0.A","publicProfile":true}`, // User-0.a in another case
		`{"_id":"bad00002","username":"-dash"}`,
		`{"_id":"bad00003","username":"self"}`,
		`{"_id":"bad00004","username":"ok4","supporterLength":{"$numberLong":"-1"}}`,
		`{"_id":"bad 0005","username":"ok5"}`,
		`{"_id":"bad00006","username":`,
		`not JSON at all`,
		"{\"_id\":\"bad00007\",\"username\":\"\xff\"}",
	} {
		_, _ = fmt.Fprintln(w, bad)
		e.want.readUsers++
		e.want.rejectedUsers++
	}
	e.want.reasons = append(e.want.reasons, "names that differ only in case", "begin and end with a letter",
		"reserved", "negative",
		"user id", "not a JSON object")
}

func (e *export) writeKeys(w io.Writer) {
	for i := range e.want.users {
		if i%2 == 1 {
			continue
		}
		var raw [32]byte
		for j := range raw {
			raw[j] = byte(e.random.IntN(256))
		}
		e.want.users[i].key = base64.StdEncoding.EncodeToString(raw[:])
		_, _ = fmt.Fprintf(w, "{\"_id\":%q,\"key\":%q}\n", e.want.users[i].id, e.want.users[i].key)
		e.want.readKeys++
	}
	for _, bad := range []string{
		`{"_id":"nobody00","key":"` + strings.Repeat("A", 43) + `="}`,
		`{"_id":"u0000001","key":"short"}`,
		`{"_id":"u0000001","key":"` + e.want.users[0].key + `"}`, // somebody else's
	} {
		_, _ = fmt.Fprintln(w, bad)
		e.want.readKeys++
		e.want.rejectedKeys++
	}
	e.want.reasons = append(e.want.reasons, "44 characters", "belongs to another user", "owner is not a user")
}

func (e *export) writePastes(w io.Writer, planned []plannedPaste) {
	content := strings.Repeat("func main() {\r\n\tfmt.Println(\"<hello> \x00\")\n}\n", 20)
	e.want.codes = make(map[string]string)
	for i, p := range planned {
		owner := ""
		if p.owner >= 0 {
			u := &e.want.users[p.owner]
			owner = u.id
			if p.deletes == 0 || p.deletes > e.now {
				u.pastes = append(u.pastes, p.id)
				u.created[p.id] = p.created
			}
		}
		code := content + fmt.Sprint(i)
		document := fmt.Sprintf(
			`{"_id":%q,"ownerId":%q,"createdAt":%d,"deletesAt":%d,"expiresIn":"1y","title":"paste %d","isPrivate":%v,`+
				`"tags":["b","a"],"pasties":[{"_id":"x","title":"","language":"unknown","code":%s}],`+
				`"edits":[{"_id":"e","editId":0,`+
				`"editType":{"$numberInt":"0"},"metadata":[],"edit":"old","editedAt":%d}]}`,
			p.id, owner, p.created, p.deletes, i, i%3 == 0, toJSON(code), p.created)
		switch {
		case i%20 == 7:
			document = fmt.Sprintf(`{"_id":%q,"ownerId":%q,"createdAt":%d,"deletesAt":%d,"expiresIn":"1y","isPrivate":false,`+
				`"encrypted":true,"encryptedData":"AAAA","encryptedKey":"AAAA",`+
				`"salt":{"$binary":{"base64":"AA==","subType":"00"}}}`,
				p.id, owner, p.created, p.deletes)
		case i%2 == 1 && i%3 != 0 && i%10 != 1: // where i%10 is 1 they have expired
			e.want.codes[p.id] = code
		case i%2 == 0:
			document = fmt.Sprintf(`{"_id":%q,"createdAt":{"$numberLong":"%d"},"deletesAt":{"$numberLong":"%d"},"ownerId":%q,`+
				`"pasties":[],"edits":[]}`, p.id, p.created, p.deletes, owner)
		}
		_, _ = fmt.Fprintln(w, document)
		e.want.readPastes++
	}
	for i := range e.want.users {
		u := &e.want.users[i]
		sort.Slice(u.pastes, func(a, b int) bool {
			if u.created[u.pastes[a]] != u.created[u.pastes[b]] {
				return u.created[u.pastes[a]] > u.created[u.pastes[b]]
			}
			return u.pastes[a] > u.pastes[b]
		})
	}
	for _, bad := range []string{
		`{"_id":"bad00001","ownerId":"nobody00","createdAt":1,"deletesAt":0,"pasties":[]}`,
		`{"_id":"bad00002","ownerId":"","createdAt":-1,"deletesAt":0,"pasties":[]}`,
		`{"_id":"bad00003","ownerId":"","createdAt":{"$numberLong":"x"},"deletesAt":0}`,
		`{"_id":"","ownerId":"","createdAt":1,"deletesAt":0,"pasties":[]}`,
		`{"_id":"bad00005","ownerId":"","createdAt":1,"deletesAt":1e300}`,
		`]`,
	} {
		_, _ = fmt.Fprintln(w, bad)
		e.want.readPastes++
		e.want.badPastes++
	}
	e.want.reasons = append(e.want.reasons, "time is negative", "paste id")
}

// extendedJSON returns an even number as MongoDB Extended JSON, and an odd one as it is.
func extendedJSON(n int) any {
	if n%2 == 0 {
		return map[string]string{"$numberLong": fmt.Sprint(n)}
	}
	return n
}

func toJSON(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // strings, maps and slices of them
	return strings.TrimSpace(b.String())
}

func writeFile(path string, compressed bool, write func(io.Writer)) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriter(file)
	if compressed {
		w := gzip.NewWriter(buffer)
		write(w)
		if err := w.Close(); err != nil {
			return err
		}
	} else {
		write(buffer)
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	return file.Close()
}
