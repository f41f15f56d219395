package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// names stands between the decision tables, which name what is made, and a server, which draws ids and reads its clock.
type names struct {
	began     time.Time
	ids       map[string]string // by name, with its brackets
	known     map[string]string // the other way round
	pastes    int               // that no request has named
	perPaste  map[string]int    // pasties of a paste, by its name, and edits, by its name and "edit"
	etagNames map[string]string // by ETag
}

func newNames() *names {
	return &names{
		began: time.Now(), ids: map[string]string{}, known: map[string]string{}, perPaste: map[string]int{},
		etagNames: map[string]string{},
	}
}

// fill puts the ids in place of their names.
func (n *names) fill(text string) string {
	return namePattern.ReplaceAllStringFunc(text, func(name string) string {
		if id, ok := n.ids[name]; ok {
			return id
		}
		panic("no request before this one has made " + name)
	})
}

var (
	namePattern = regexp.MustCompile(`<[a-z]+(\.[a-z0-9]+)?>`)
	timePattern = regexp.MustCompile(`"(createdAt|editedAt|deletesAt)":(\d+)`)
)

// learn takes the ids of an answer that is a paste, or its link.
func (n *names) learn(name string, response *http.Response, body string) {
	if name != "" && !namePattern.MatchString("<"+name+">") {
		panic("the name " + name + " is not of small letters alone, so no request could use it")
	}
	var made struct {
		ID             string `json:"_id"`
		Encrypted      bool
		Pasties, Edits []struct {
			ID string `json:"_id"`
		}
	}
	link := response.Header.Get("Location")
	if err := json.Unmarshal([]byte(body), &made); (err != nil || made.Pasties == nil && !made.Encrypted) && link == "" {
		return
	}
	if made.ID == "" {
		made.ID = path.Base(link)
	}
	if known, ok := n.known[made.ID]; ok {
		name = strings.Trim(known, "<>")
	} else if made.ID == "oldest01" || made.ID == "imported" { // which no request has made
		return
	} else if name == "" {
		n.pastes++
		name = fmt.Sprintf("paste%d", n.pastes)
	}
	n.give(name, made.ID)
	if key := response.Header.Get("Gluepot-Delete-Key"); key != "" {
		n.give(name+".key", key)
	}
	for _, p := range made.Pasties {
		if n.known[p.ID] == "" {
			n.give(fmt.Sprintf("%s.%d", name, n.perPaste[name]), p.ID)
			n.perPaste[name]++
		}
	}
	for _, e := range made.Edits {
		if n.known[e.ID] == "" {
			n.give(fmt.Sprintf("%s.edit%d", name, n.perPaste[name+"edit"]), e.ID)
			n.perPaste[name+"edit"]++
		}
	}
	if etag := response.Header.Get("ETag"); etag != "" {
		n.ids["<"+name+".etag>"], n.etagNames[etag] = etag, "<"+name+".etag>"
	}
}

func (n *names) give(name, id string) {
	n.ids["<"+name+">"], n.known[id] = id, "<"+name+">"
}

// hide puts names in place of what differs each time.
func (n *names) hide(text string) string {
	for id, name := range n.known {
		text = strings.ReplaceAll(text, id, name)
	}
	for etag, name := range n.etagNames {
		text = strings.ReplaceAll(text, etag, name)
	}
	created := int64(0)
	return timePattern.ReplaceAllStringFunc(text, func(field string) string {
		parts := timePattern.FindStringSubmatch(field)
		at, _ := strconv.ParseInt(parts[2], 10, 64)
		if parts[1] == "createdAt" {
			created = at
		}
		switch {
		case at < n.began.Unix():
			return field
		case parts[1] == "deletesAt":
			return fmt.Sprintf(`"deletesAt":<createdAt + %d>`, at-created)
		case at > time.Now().Unix():
			return field
		}
		return `"` + parts[1] + `":<now>`
	})
}

// readable is text as the golden file has it: without the middle of what nobody reads, and with escapes for what is no
// text.
func readable(text string) string {
	const most = 2000
	if len(text) > most {
		text = fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:100], ""), len(text))
	}
	if utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\r\ufeff") {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
