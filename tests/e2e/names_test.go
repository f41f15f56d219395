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

// names translates between the names in the decision tables and the ids and times of a server.
type names struct {
	start     time.Time
	ids       map[string]string // by name, with its brackets
	byID      map[string]string // names by id
	pastes    int               // number of pastes without a name in the tables
	perPaste  map[string]int    // number of a paste's pasties, by its name, and of its edits, by its name and "edit"
	etagNames map[string]string // by ETag
}

func newNames() *names {
	return &names{
		start: time.Now(), ids: map[string]string{}, byID: map[string]string{}, perPaste: map[string]int{},
		etagNames: map[string]string{},
	}
}

// fill replaces names by their ids.
func (n *names) fill(text string) string {
	return namePattern.ReplaceAllStringFunc(text, func(name string) string {
		if id, ok := n.ids[name]; ok {
			return id
		}
		panic("no request before this one has created " + name)
	})
}

var (
	namePattern = regexp.MustCompile(`<[a-z]+(\.[a-z0-9]+)?>`)
	timePattern = regexp.MustCompile(`"(createdAt|editedAt|deletesAt)":(\d+)`)
)

// learn remembers the ids in an answer that is a paste or its link.
func (n *names) learn(name string, response *http.Response, body string) {
	if name != "" && !namePattern.MatchString("<"+name+">") {
		panic("the name " + name + " has other characters than small letters, so no request could use it")
	}
	var document struct {
		ID             string `json:"_id"`
		Encrypted      bool
		Pasties, Edits []struct {
			ID string `json:"_id"`
		}
	}
	link := response.Header.Get("Location")
	if err := json.Unmarshal([]byte(body), &document); (err != nil || document.Pasties == nil && !document.Encrypted) &&
		link == "" {
		return
	}
	if document.ID == "" {
		document.ID = path.Base(link)
	}
	if former, ok := n.byID[document.ID]; ok {
		name = strings.Trim(former, "<>")
	} else if document.ID == "oldest01" || document.ID == "imported" { // no request creates these
		return
	} else if name == "" {
		n.pastes++
		name = fmt.Sprintf("paste%d", n.pastes)
	}
	n.give(name, document.ID)
	if key := response.Header.Get("Gluepot-Delete-Key"); key != "" {
		n.give(name+".key", key)
	}
	for _, p := range document.Pasties {
		if n.byID[p.ID] == "" {
			n.give(fmt.Sprintf("%s.%d", name, n.perPaste[name]), p.ID)
			n.perPaste[name]++
		}
	}
	for _, e := range document.Edits {
		if n.byID[e.ID] == "" {
			n.give(fmt.Sprintf("%s.edit%d", name, n.perPaste[name+"edit"]), e.ID)
			n.perPaste[name+"edit"]++
		}
	}
	if etag := response.Header.Get("ETag"); etag != "" {
		n.ids["<"+name+".etag>"], n.etagNames[etag] = etag, "<"+name+".etag>"
	}
}

func (n *names) give(name, id string) {
	n.ids["<"+name+">"], n.byID[id] = id, "<"+name+">"
}

// hide replaces ids, ETags and times by names.
func (n *names) hide(text string) string {
	for id, name := range n.byID {
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
		case at < n.start.Unix():
			return field
		case parts[1] == "deletesAt":
			return fmt.Sprintf(`"deletesAt":<createdAt + %d>`, at-created)
		case at > time.Now().Unix():
			return field
		}
		return `"` + parts[1] + `":<now>`
	})
}

// readable returns a text as it is in the golden file: shortened if it is long, and escaped if it is not plain text.
func readable(text string) string {
	const limit = 2000 // bytes
	if len(text) > limit {
		text = fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:100], ""), len(text))
	}
	if utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\r\ufeff") {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
