package paste

import (
	"slices"

	"github.com/gluepot/gluepot/domain/fault"
)

var errHistory = fault.New(fault.Invalid, "The paste's history does not fit what it holds.")

// Before returns the content as it was before the newest edit in Edits, with the edits that were there then; and as
// it is when there is none. Applied again and again it goes back to the paste as it was created, or as far as the
// edits that were kept reach. What edits do not record stays as it is: tags, visibility and the order of the
// pasties, of which those that were removed come back at the end.
//
// It fails with a fault.Invalid when an entry does not fit the content, which only an imported one can.
func (c Content) Before() (Content, error) {
	c.Edits, c.Pasties = slices.Clone(c.Edits), slices.Clone(c.Pasties)
	for n := len(c.Edits); n > 0; n = len(c.Edits) {
		newest := c.Edits[n-1]
		if err := c.undo(newest); err != nil {
			return Content{}, err
		}
		if c.Edits = c.Edits[:n-1]; n > 1 && c.Edits[n-2].Number != newest.Number {
			break
		}
	}
	return c, nil
}

// undo takes back one entry.
func (c *Content) undo(e Edit) (err error) {
	switch {
	case e.Type == EditTitle:
		c.Title = e.Text
		return nil
	case e.Type > EditPastyRemoved || len(e.Metadata) == 0:
		return errHistory
	case e.Type == EditPastyRemoved:
		if len(e.Metadata) < 3 {
			return errHistory
		}
		c.Pasties = append(c.Pasties, Pasty{ID: e.Metadata[0], Title: e.Metadata[1], Language: e.Metadata[2], Code: e.Text})
		return nil
	}
	i := slices.IndexFunc(c.Pasties, func(p Pasty) bool { return p.ID == e.Metadata[0] })
	if i < 0 {
		return errHistory
	}
	switch e.Type {
	case EditPastyTitle:
		c.Pasties[i].Title = e.Text
	case EditPastyLanguage:
		c.Pasties[i].Language = e.Text
	case EditPastyCode:
		c.Pasties[i].Code, err = Revert(c.Pasties[i].Code, e.Text)
	case EditPastyAdded:
		c.Pasties = slices.Delete(c.Pasties, i, i+1)
	}
	return err
}
