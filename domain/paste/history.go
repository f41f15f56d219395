package paste

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// Original names the content before the first stored edit.
const Original = "original"

var (
	errNoEdit  = fault.New(fault.NotFound, "The paste has no edit with that number.")
	errTooFar  = fault.New(fault.NotFound, "That edit is too old to be shown for a paste of this size.")
	errUnknown = fault.New(fault.NotFound,
		"The paste cannot be shown as of that edit: its imported history does not match its content.")
)

// maxReverted bounds the bytes of code and diffs that AsOf processes.
const maxReverted = 256 << 20

// AsOf returns the content and history after the edit with that number, or before the first one (Original). Tags,
// visibility and the order of pasties stay as they are, because edits do not record them; removed pasties come back at
// the end. It fails with a fault.NotFound when there is no such edit, when it is too far back, and when an imported
// entry does not fit the content.
func (c Content) AsOf(edit string) (Content, error) {
	n := len(c.Edits)
	for n > 0 && strconv.FormatInt(c.Edits[n-1].Number, 10) != edit {
		n--
	}
	if n == 0 && edit != Original {
		return Content{}, errNoEdit
	}
	later := c.Edits[n:]
	c.Edits, c.Pasties = slices.Clone(c.Edits[:n]), slices.Clone(c.Pasties)
	total := 0
	for _, e := range slices.Backward(later) {
		length, fits := c.undo(e)
		if !fits {
			return Content{}, errUnknown
		}
		if total += length; total > maxReverted {
			return Content{}, errTooFar
		}
	}
	return c, nil
}

// Version is the content after an edit.
type Version struct {
	Content

	Edits []Edit    // the entries that led to it; none of the first
	At    time.Time // the time of the edit; zero for the first
}

// maxVersions bounds the bytes of all versions: a pasty counts once for each code that it had, and in each version for
// what names it.
const (
	maxVersions = 32 << 20
	pastyName   = 320
)

var errLongHistory = fault.New(fault.Invalid,
	"The history of this paste is too long to read at once. Read single edits instead.")

// Versions returns the content after each edit, oldest first, and first of all as it was before the first edit that is
// known. The parts that stay the same share their memory. Where an imported entry does not fit the content, the first
// version is the one after it. It fails with a fault.Invalid when the versions are too long together. It also fails as
// claim does, which it calls with about how many bytes the content and the versions take so far.
func (c Content) Versions(claim func(bytes int64) error) ([]Version, error) {
	var versions []Version
	edits := c.Edits
	c.Pasties, c.Edits = slices.Clone(c.Pasties), nil
	length := c.ContentBytes()
	grow := func(bytes int) error {
		if length += int64(bytes); length > maxVersions {
			return errLongHistory
		}
		return claim(length)
	}
	for len(edits) > 0 {
		if err := grow(pastyName * len(c.Pasties)); err != nil {
			return nil, err
		}
		last := edits[len(edits)-1]
		first := slices.IndexFunc(edits, func(e Edit) bool { return e.Number == last.Number })
		version := Version{Content: c, Edits: edits[first:], At: last.At}
		version.Pasties = slices.Clone(c.Pasties)
		edits = edits[:first]
		for _, e := range slices.Backward(version.Edits) {
			size, fits := c.undo(e)
			if !fits {
				version.Edits = nil
				versions = append(versions, version)
				slices.Reverse(versions)
				return versions, nil
			}
			if err := grow(size); err != nil {
				return nil, err
			}
		}
		versions = append(versions, version)
	}
	versions = append(versions, Version{Content: c})
	slices.Reverse(versions)
	return versions, nil
}

// To returns the changes that restore an older content, as far as edits can. Restored pasties get new ids.
func (c Content) To(older Content) Changes {
	changes := Changes{Title: &older.Title}
	remaining := make(map[string]int) // an imported paste can have an id twice
	for _, p := range c.Pasties {
		remaining[p.ID]++
	}
	for _, p := range older.Pasties {
		change := PastyChanges{ID: p.ID, Title: &p.Title, Language: &p.Language, Code: &p.Code}
		if remaining[p.ID]--; remaining[p.ID] < 0 {
			change.ID = ""
		}
		changes.Pasties = append(changes.Pasties, change)
	}
	return changes
}

// undo reverts one entry. It returns the number of bytes that it processed, and whether the entry fits the content.
func (c *Content) undo(e Edit) (length int, fits bool) {
	switch {
	case e.Type == EditTitle:
		c.Title = e.Text
		return 0, true
	case e.Type == EditPastyRemoved && len(e.Metadata) >= 3:
		c.Pasties = append(c.Pasties, Pasty{ID: e.Metadata[0], Title: e.Metadata[1], Language: e.Metadata[2], Code: e.Text})
		return 0, true
	case len(e.Metadata) == 0:
		return 0, false
	}
	i := slices.IndexFunc(c.Pasties, func(p Pasty) bool { return p.ID == e.Metadata[0] })
	if i < 0 {
		return 0, false
	}
	var err error
	switch e.Type {
	case EditPastyTitle:
		c.Pasties[i].Title = e.Text
	case EditPastyLanguage:
		c.Pasties[i].Language = e.Text
	case EditPastyCode:
		length = len(c.Pasties[i].Code) + len(e.Text)
		c.Pasties[i].Code, err = Revert(c.Pasties[i].Code, e.Text)
	case EditPastyAdded:
		c.Pasties = slices.Delete(c.Pasties, i, i+1)
	default:
		return 0, false
	}
	return length, err == nil
}

// ErrEdited is the fault.Conflict for changes to a paste that someone else edited in the meantime.
var ErrEdited = fault.New(fault.Conflict, "The paste was edited in the meantime. Read it again, then repeat your "+
	"change.")

// Revision identifies everything that edits can change. Unlike the number of edits, it also changes with an import, and
// with tags, visibility and the order of pasties, which have no history.
func (c Content) Revision() string {
	sum := sha256.New()
	write := func(texts ...string) { // each after its length, so that different lists have different encodings
		_, _ = fmt.Fprintln(sum, len(texts)) // a hash.Hash does not fail
		for _, text := range texts {
			_, _ = fmt.Fprintln(sum, len(text))
			_, _ = io.WriteString(sum, text)
		}
	}
	write(c.Title, c.Visibility.String())
	write(c.Tags...)
	for _, p := range c.Pasties {
		write(p.ID, p.Title, p.Language, p.Code)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
