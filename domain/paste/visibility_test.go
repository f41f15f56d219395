package paste

import (
	"errors"
	"testing"

	"github.com/gluepot/gluepot/domain/user"
)

// TestWhoMaySeeAndEdit expects the same error for everything that the reader may not see.
func TestWhoMaySeeAndEdit(t *testing.T) {
	t.Parallel()
	document := func(owner user.ID, visibility Visibility) Document {
		return Document{Paste: Paste{Owner: owner}, Content: Content{Visibility: visibility, Tags: []string{"tag"},
			Edits: []Edit{{}}}}
	}
	encrypted := document("owner", Unlisted)
	encrypted.Cipher = new(Cipher)
	for what, c := range map[string]struct {
		document                Document
		reader                  user.ID
		visible, tags, editable bool
	}{
		"public, anybody":            {document("owner", Public), "", true, false, false},
		"public, somebody else":      {document("owner", Public), "other", true, false, false},
		"public, the owner":          {document("owner", Public), "owner", true, true, true},
		"unlisted, anybody":          {document("owner", Unlisted), "", true, false, false},
		"unlisted, the owner":        {document("owner", Unlisted), "owner", true, true, true},
		"private, anybody":           {document("owner", Private), "", false, false, false},
		"private, somebody else":     {document("owner", Private), "other", false, false, false},
		"private, the owner":         {document("owner", Private), "owner", true, true, true},
		"anonymous, anybody":         {document("", Unlisted), "", true, false, false},
		"anonymous, somebody":        {document("", Unlisted), "other", true, false, false},
		"private of nobody, anybody": {document("", Private), "", false, false, false},
		"encrypted, its owner":       {encrypted, "owner", false, false, false},
		"encrypted, anybody":         {encrypted, "", false, false, false},
	} {
		got, err := c.document.ForReader(c.reader)
		if (err == nil) != c.visible || err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v, want it visible: %v", what, err, c.visible)
		}
		if (len(got.Tags) > 0) != c.tags || (len(got.Edits) > 0) != c.visible {
			t.Errorf("%s: got the tags %q and the edits %v, want tags: %v, edits: %v", what, got.Tags, got.Edits, c.tags,
				c.visible)
		}
		if len(c.document.Tags) != 1 {
			t.Errorf("%s: got the tags %q, want the original unmodified", what, c.document.Tags)
		}
		if err := c.document.EditableBy(c.reader); (err == nil) != c.editable || err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v, want it editable: %v", what, err, c.editable)
		}
	}
}

func TestVisibilityString(t *testing.T) {
	t.Parallel()
	for visibility, want := range map[Visibility]string{Unlisted: "unlisted", Public: "public", Private: "private",
		9: "unknown"} {
		if got := visibility.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
