package paste

import (
	"errors"
	"slices"
	"strconv"

	"github.com/gluepot/gluepot/domain/fault"
)

var errHistory = fault.New(fault.Invalid, "The paste's history does not fit its content.")

// Original names the content before the first edit that is known.
const Original = "original"

var (
	errNoEdit  = fault.New(fault.NotFound, "The paste has no edit with that number.")
	errTooFar  = fault.New(fault.NotFound, "That edit is too long ago for a paste of this size.")
	errUnknown = fault.New(fault.NotFound, "The paste cannot be shown at that edit: its imported history does not fit its content.")
)

// maxReverted bounds the bytes of code and diffs that are processed on the way back to an edit.
const maxReverted = 256 << 20

// AsOf returns the content and history after the edit with that number, or before the first one. What edits do not record stays
// as it is: see Before. It fails with a fault.NotFound when there is no such edit, when it is too far back, and when an
// imported entry on the way does not fit the content.
func (c Content) AsOf(edit string) (Content, error) {
	kept := len(c.Edits)
	for kept > 0 && strconv.FormatInt(c.Edits[kept-1].Number, 10) != edit {
		kept--
	}
	if kept == 0 && edit != Original {
		return Content{}, errNoEdit
	}
	c, err := c.back(kept)
	if errors.Is(err, errTooFar) {
		return Content{}, err
	}
	if err != nil {
		return Content{}, errUnknown
	}
	return c, nil
}

// Before returns the content and history before the newest edit in Edits, or unchanged when there is none. Repeated, it goes
// back to the paste as it was created, or as far as the history reaches. Edits do not record tags, visibility and the order of
// pasties: these stay, and removed pasties come back at the end.
//
// It fails as AsOf does, but with a fault.Invalid for an entry that does not fit.
func (c Content) Before() (Content, error) {
	kept := len(c.Edits)
	for kept > 0 && c.Edits[kept-1].Number == c.Edits[len(c.Edits)-1].Number {
		kept--
	}
	return c.back(kept)
}

// back returns the content when it had only the first edits.
func (c Content) back(kept int) (Content, error) {
	undone := c.Edits[kept:]
	c.Edits, c.Pasties = slices.Clone(c.Edits[:kept]), slices.Clone(c.Pasties)
	reverted := 0
	for _, e := range slices.Backward(undone) {
		length, err := c.undo(e)
		if err != nil {
			return Content{}, err
		}
		if reverted += length; reverted > maxReverted {
			return Content{}, errTooFar
		}
	}
	return c, nil
}

// To returns the changes that restore an older content, as far as edits can. Pasties that were removed get new ids.
func (c Content) To(older Content) Changes {
	changes := Changes{Title: &older.Title}
	left := make(map[string]int) // an imported paste can have an id twice
	for _, p := range c.Pasties {
		left[p.ID]++
	}
	for _, p := range older.Pasties {
		wanted := PastyChanges{ID: p.ID, Title: &p.Title, Language: &p.Language, Code: &p.Code}
		if left[p.ID]--; left[p.ID] < 0 {
			wanted.ID = ""
		}
		changes.Pasties = append(changes.Pasties, wanted)
	}
	return changes
}

// undo reverts one entry, and returns the number of bytes of code that it processed.
func (c *Content) undo(e Edit) (length int, err error) {
	switch {
	case e.Type == EditTitle:
		c.Title = e.Text
		return 0, nil
	case e.Type > EditPastyRemoved || len(e.Metadata) == 0:
		return 0, errHistory
	case e.Type == EditPastyRemoved:
		if len(e.Metadata) < 3 {
			return 0, errHistory
		}
		c.Pasties = append(c.Pasties, Pasty{ID: e.Metadata[0], Title: e.Metadata[1], Language: e.Metadata[2], Code: e.Text})
		return 0, nil
	}
	i := slices.IndexFunc(c.Pasties, func(p Pasty) bool { return p.ID == e.Metadata[0] })
	if i < 0 {
		return 0, errHistory
	}
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
	}
	return length, err
}
