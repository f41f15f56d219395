package pastes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

type edit struct {
	Number  string
	At      time.Time
	Entries []entry
}

// entry is a change of one value: a text with its successor, or code.
type entry struct {
	What     string     // "Language of"
	Of       marks.Text // the pasty, or ""
	Old, New marks.Text // with Texts
	Texts    bool       // show Old and New; otherwise code
	TooLong  bool       // show neither
	sign     string     // before every line of the code; empty: the code contains it
	code     string
}

// edits returns a paste's history, newest first. Stored entries have only the old values; the new ones are found on the way back. Imported
// entries may be inconsistent.
func edits(found *paste.Document) []edit {
	title := found.Title
	titles, languages := make(map[string]string), make(map[string]string)
	for _, pasty := range found.Pasties {
		titles[pasty.ID], languages[pasty.ID] = pasty.Title, pasty.Language
	}
	var all []edit
	for _, e := range slices.Backward(found.Edits) {
		number := strconv.FormatInt(e.Number, 10)
		if n := len(all); n == 0 || all[n-1].Number != number {
			all = append(all, edit{Number: number, At: e.At})
		}
		id := ""
		if len(e.Metadata) > 0 {
			id = e.Metadata[0]
		}
		if len(e.Metadata) >= 3 {
			titles[id], languages[id] = e.Metadata[1], e.Metadata[2]
		}
		made := entry{Of: marks.Text(site.Shortened(string(nameOf(titles[id], id)), site.MaxName))}
		switch e.Type {
		case paste.EditTitle:
			made.What, made.Of, made.Texts, made.Old, made.New = "Title", "", true, marks.Text(e.Text), marks.Text(title)
			title = e.Text
		case paste.EditPastyTitle:
			made.What, made.Of, made.Texts, made.Old, made.New = "Name", "", true, nameOf(e.Text, id), nameOf(titles[id], id)
			titles[id] = e.Text
		case paste.EditPastyLanguage:
			made.What, made.Texts, made.Old, made.New = "Language of", true, marks.Text(e.Text), marks.Text(languages[id])
			languages[id] = e.Text
		case paste.EditPastyCode:
			made.What, made.code = "Changed", e.Text
		case paste.EditPastyAdded:
			made.What, made.sign, made.code = "Added", "+", e.Text
		case paste.EditPastyRemoved:
			made.What, made.sign, made.code = "Removed", "-", e.Text
		default:
			continue
		}
		newest := &all[len(all)-1]
		newest.Entries = append(newest.Entries, made)
	}
	for i := range all {
		slices.Reverse(all[i].Entries)
	}
	return all
}

func nameOf(title, id string) marks.Text {
	if strings.TrimSpace(title) == "" {
		title = "snippet " + id
	}
	return marks.Text(title)
}

func (p *pages) history(w http.ResponseWriter, r *site.Request) error {
	found, err := p.Read(r)
	if err != nil {
		return err
	}
	page := newPastePage(r, &found)
	page.Title = "History of " + page.Title
	history := edits(&found)
	return p.show(w, r, fit(history), p.historyView(page, history))
}

func (p *pages) revision(w http.ResponseWriter, r *site.Request) error {
	number := r.PathValue("edit")
	found, err := p.Modules.Pastes.Read.Revision(r.Context(), r.Viewer, r.PathValue("id"), number)
	if err != nil {
		return p.Explained(r, err)
	}
	page := newPastePage(r, &found)
	page.Revision, page.Title = number, "Revision of "+page.Title
	r.Policy = notebookPolicy(site.ContentPolicy, page.Paste.Pasties)
	return p.show(w, r, page.size(), p.revisionView(page))
}

func (p *pages) restore(w http.ResponseWriter, r *site.Request) error {
	id := r.PathValue("id")
	_, err := p.Modules.Pastes.EditOwn.Restore(r.Context(), r.Actor(), id, r.PathValue("edit"))
	return p.Done(w, site.PathOfPaste(id), err)
}

// fit marks the entries for which the page has no room, and returns the size of the others in bytes.
func fit(all []edit) int {
	bytesLeft, linesLeft := site.MaxShownBytes, maxShownLines
	for i := range all {
		for j := range all[i].Entries {
			e := &all[i].Entries[j]
			length, lineCount := len(e.Of)+len(e.Old)+len(e.New)+len(e.code), lines(e.code)
			if e.TooLong = length > bytesLeft || lineCount > linesLeft; !e.TooLong {
				bytesLeft -= length
				linesLeft -= lineCount
			}
		}
	}
	return site.MaxShownBytes - bytesLeft
}

// diffClasses are the classes of a diff's lines by their first character.
var diffClasses = map[string]string{"+": "n", "-": "d", "@": "hunk", "\\": "hunk"}

// Render implements templ.Component: it writes the code line by line.
func (e *entry) Render(ctx context.Context, w io.Writer) error {
	var b []byte
	for line := range strings.Lines(strings.TrimPrefix(e.code, paste.DiffHeader)) {
		line = e.sign + strings.TrimSuffix(line, "\n")
		b = fmt.Appendf(b[:0], `<span class="diff %s">`, diffClasses[line[:min(len(line), 1)]])
		b = append(marks.Of(ctx).Append(b, line, false), "\n</span>"...)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}
