package paste

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

var created = time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)

// testRules returns rules with numbered ids, three languages and small limits.
func testRules() Rules {
	ids := 0
	return Rules{
		Limits: Limits{Pasties: 4, Edits: 10, ContentBytes: 10_000, HistoryBytes: 1000},
		NewID: func() string {
			ids++
			return fmt.Sprint("id", ids)
		},
		Language: func(name, title, code string) (string, bool) {
			switch strings.ToLower(name) {
			case "go", "golang":
				return "Go", true
			case "python", "py":
				return "Python", true
			case "autodetect":
				switch {
				case strings.HasSuffix(title, ".go"):
					return "Go", true
				case strings.HasPrefix(code, "#!python"):
					return "Python", true
				}
			}
			return "", false
		},
		Diff: replaceDiff,
	}
}

// replaceDiff is a Differ whose diffs replace the whole text.
func replaceDiff(before, after string) string {
	span := func(text string, sign byte) (where, lines string) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			lines += string(sign) + line
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			lines += "\n\\ No newline at end of file\n"
		}
		return fmt.Sprintf("%d,%d", min(n, 1), n), lines
	}
	oldLines, minus := span(before, '-')
	newLines, plus := span(after, '+')
	return DiffHeader + "@@ -" + oldLines + " +" + newLines + " @@\n" + minus + plus
}

func pasties(drafts ...PastyDraft) []PastyDraft { return drafts }

func code(text string) PastyDraft { return PastyDraft{Code: &text} }

func wantFault(t *testing.T, what string, err error, kind fault.Kind, mentions string) {
	t.Helper()
	if fault.KindOf(err) != kind || err == nil || !strings.Contains(fault.MessageOf(err), mentions) {
		t.Errorf("%s: got %v, want an error of kind %v that mentions %q", what, err, kind, mentions)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	titled := PastyDraft{Title: "main.go", Code: new("package main\r\n\r\r\nx\x00\ry")}
	python := PastyDraft{Title: "main.go", Language: new("PY"), Code: new("")}
	got, err := testRules().Create(Draft{
		Title: "T\x00ä", Public: true, Tags: []string{"b, a", "", " b,c "}, Lifetime: new("1w"),
		Pasties: pasties(titled, python, code("#!python"), PastyDraft{Language: new("autoDETECT"), Code: new("x")}),
	}, true, created)
	want := Document{
		Paste: Paste{CreatedAt: created, ExpiresAt: time.Date(2024, 5, 13, 7, 8, 9, 0, time.UTC)},
		Content: Content{
			Title: "T\x00ä", Visibility: Public, Tags: []string{"a", "b", "c"}, Lifetime: "1w",
			Pasties: []Pasty{
				{"id1", "main.go", "Go", "package main\r\n\r\r\nx\x00\ry"}, {"id2", "main.go", "Python", ""},
				{"id3", "", "Python", "#!python"}, {"id4", "", "Plain Text", "x"},
			},
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	unix, err := testRules().Create(Draft{Pasties: pasties(titled), UnixLines: true}, false, created)
	if err != nil || unix.Pasties[0].Code != "package main\n\r\nx\x00\ry" {
		t.Errorf("got %q, %v, want LF for each CRLF", unix.Pasties, err)
	}
	least, err := testRules().Create(Draft{Pasties: pasties(code("x"))}, false, created)
	want = Document{
		Paste:   Paste{CreatedAt: created},
		Content: Content{Lifetime: Never, Pasties: []Pasty{{ID: "id1", Language: "Plain Text", Code: "x"}}},
	}
	if err != nil || !reflect.DeepEqual(least, want) {
		t.Errorf("got %+v, %v, want %+v", least, err, want)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	one := pasties(code("x"))
	long := func(n int) string { return strings.Repeat("ä", n) }
	for what, c := range map[string]struct {
		draft    Draft
		mentions string // empty if the draft is accepted
	}{
		"a title of 1024":         {Draft{Title: long(1024), Pasties: one}, ""},
		"a title of 1025":         {Draft{Title: long(1025), Pasties: one}, "title"},
		"a broken title":          {Draft{Title: "\xff", Pasties: one}, "title"},
		"no pasties":              {Draft{}, "pasties"},
		"four pasties":            {Draft{Pasties: slices.Repeat(one, 4)}, ""},
		"five pasties":            {Draft{Pasties: slices.Repeat(one, 5)}, "pasties: there may be at most 4"},
		"no code":                 {Draft{Pasties: append(one, PastyDraft{})}, "pasties[1].code"},
		"a long title, no code":   {Draft{Pasties: pasties(PastyDraft{Title: long(4097)})}, "pasties[0].title"},
		"broken code":             {Draft{Pasties: pasties(code("\xff"))}, "pasties[0].code"},
		"too much code":           {Draft{Pasties: append(one, code(strings.Repeat("x", 10_000)))}, "10000 bytes"},
		"just enough code":        {Draft{Pasties: append(one, code(strings.Repeat("x", 9_999)))}, ""},
		"a pasty's title of 4096": {Draft{Pasties: pasties(PastyDraft{Title: long(4096), Code: new("")})}, ""},
		"a pasty's title of 4097": {Draft{Pasties: pasties(PastyDraft{Title: long(4097), Code: new("")})},
			"pasties[0].title"},
		"an empty language": {Draft{Pasties: pasties(PastyDraft{Language: new(""), Code: new("")})},
			"pasties[0].language"},
		"an unknown language": {Draft{Pasties: append(one, PastyDraft{Language: new("klingon"), Code: new("")})},
			"pasties[1].language"},
		"private":              {Draft{Private: true, Pasties: one}, ""},
		"private and public":   {Draft{Private: true, Public: true, Pasties: one}, "isPrivate, isPublic"},
		"encrypted":            {Draft{Encrypted: true, Pasties: one}, "encrypted"},
		"a cipher":             {Draft{Cipher: newCipher(1, 29, 0), Private: true}, ""},
		"a cipher with a salt": {Draft{Cipher: newCipher(1, 10_000, 16)}, ""},
		"no cipher":            {Draft{Cipher: newCipher(1, 28, 0)}, "cipher"},
		"a large cipher":       {Draft{Cipher: newCipher(1, 10_001, 0)}, "10000 bytes"},
		"a short salt":         {Draft{Cipher: newCipher(1, 29, 15)}, "salt"},
		"another version":      {Draft{Cipher: newCipher(2, 29, 0)}, "version"},
		"a public cipher":      {Draft{Cipher: newCipher(1, 29, 0), Public: true}, "isPrivate, isPublic"},
		"an empty lifetime":    {Draft{Lifetime: new(""), Pasties: one}, "expiresIn"},
		"an unknown lifetime":  {Draft{Lifetime: new("3h"), Pasties: one}, "expiresIn"},
		"a name of a lifetime": {Draft{Lifetime: new("OneHour"), Pasties: one}, "expiresIn"},
		"too many tags":        {Draft{Tags: []string{strings.Repeat("a,b,", 40), numberedTags(99)}, Pasties: one}, "tags"},
	} {
		_, err := testRules().Create(c.draft, true, created)
		if c.mentions != "" {
			wantFault(t, what, err, fault.Invalid, c.mentions)
		} else if err != nil {
			t.Errorf("%s: got %v, want it accepted", what, err)
		}
	}
}

func newCipher(version, data, salt int) *Cipher {
	return &Cipher{Version: version, Data: make([]byte, data), Salt: make([]byte, salt)}
}

// numberedTags returns n different tags.
func numberedTags(n int) string {
	var tags []string
	for i := range n {
		tags = append(tags, fmt.Sprint(i))
	}
	return strings.Join(tags, ",")
}

// TestCreateAnonymously checks that visitors are told to sign in for what needs an owner, whatever else is wrong.
func TestCreateAnonymously(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		draft Draft
		kind  fault.Kind
	}{
		"private":          {Draft{Private: true}, fault.Unauthenticated},
		"public":           {Draft{Public: true, Title: "\xff"}, fault.Unauthenticated},
		"both":             {Draft{Private: true, Public: true}, fault.Unauthenticated},
		"tagged":           {Draft{Tags: []string{" , a"}}, fault.Unauthenticated},
		"too many tags":    {Draft{Tags: []string{numberedTags(101)}}, fault.Unauthenticated},
		"encrypted":        {Draft{Private: true, Encrypted: true}, fault.Unauthenticated},
		"with empty tags":  {Draft{Tags: []string{"", " ,"}}, fault.Invalid},
		"without anything": {Draft{}, fault.Invalid},
	} {
		_, err := testRules().Create(c.draft, false, created)
		wantFault(t, what, err, c.kind, "")
		if c.kind == fault.Invalid {
			c.draft.Pasties = pasties(code(""))
			if _, err := testRules().Create(c.draft, false, created); err != nil {
				t.Errorf("%s: got %v, want it accepted", what, err)
			}
		}
	}
}

// TestDefaultLanguage checks that a pasty gets the default language if neither its title nor its code determines one.
func TestDefaultLanguage(t *testing.T) {
	t.Parallel()
	python, auto := "python", "autodetect"
	for _, c := range []struct {
		language                    *string
		title, code, fallback, want string
	}{
		{nil, "", "x", "golang", "Go"}, {&auto, "", "x", "golang", "Go"}, {nil, "", "x", "", "Plain Text"},
		{nil, "", "x", "Klingon", "Plain Text"}, {nil, "", "x", Autodetect, "Plain Text"},
		{nil, "main.go", "x", "python", "Go"}, {nil, "", "#!python", "go", "Python"}, {&python, "", "x", "go", "Python"},
	} {
		draft := Draft{Pasties: []PastyDraft{{Title: c.title, Language: c.language, Default: c.fallback, Code: &c.code}}}
		got, err := testRules().Create(draft, false, created)
		if err != nil || got.Pasties[0].Language != c.want {
			t.Errorf("%+v: got %+v, %v, want %s", c, got.Pasties, err, c.want)
		}
	}
}

func TestPasty(t *testing.T) {
	t.Parallel()
	content := Content{Pasties: []Pasty{{ID: "a", Code: "x"}, {ID: "b", Code: "y"}}}
	if got, err := content.Pasty("b"); err != nil || got.Code != "y" {
		t.Errorf("got %v, %v, want the pasty b", got, err)
	}
	for _, id := range []string{"", "c", "B"} {
		if _, err := content.Pasty(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %v, want ErrNotFound", id, err)
		}
	}
}

// TestBytesOfTags checks that tags count towards quotas.
func TestBytesOfTags(t *testing.T) {
	t.Parallel()
	c := Content{Title: "a", Tags: []string{strings.Repeat("x", MaxTagLength)}, Pasties: []Pasty{{Title: "b", Code: "cd"}}}
	if got := c.Bytes(); got != MaxTagLength+4 {
		t.Errorf("got %d bytes, want %d", got, MaxTagLength+4)
	}
}
