package paste

import (
	"fmt"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// EditType says what an entry of the history changed. The numbers are PasteMyst's. An import may have others.
type EditType int64

// The types. Metadata is empty for EditTitle; the pasty's id for the next three; and the pasty's id, title and language
// for the last two.
const (
	EditTitle         EditType = iota // text: the old title of the paste
	EditPastyTitle                    // text: the old title
	EditPastyLanguage                 // text: the old language
	EditPastyCode                     // text: a unified diff from old to new
	EditPastyAdded                    // text: the code
	EditPastyRemoved                  // text: the code
)

// Edit is one entry of a paste's history: one value that a request changed.
type Edit struct {
	ID       string
	Number   int64 // number of the request, from 0; all its entries have it
	Type     EditType
	Metadata []string
	Text     string
	At       time.Time // a whole second, in UTC
}

// Changes are a requested edit. Nil fields stay as they are.
type Changes struct {
	Title   *string
	Private *bool
	Public  *bool
	Tags    []string // each is split at commas; nil: as they are, empty: none
	// Pasties are all pasties that the paste has after the edit, in order. Pasties that are not listed are removed. Empty:
	// all stay as they are.
	Pasties []PastyChanges
	// Base is the Revision that the changes were made to, so that they do not undo concurrent edits. Empty: any.
	Base string
	// UnixLines is as in Draft, for code that changes.
	UnixLines bool
}

// PastyChanges are the requested changes of one pasty. Nil fields stay as they are.
type PastyChanges struct {
	ID                    string // empty: the pasty is new, as for PastyDraft
	Title, Language, Code *string
	Label                 string // as for PastyDraft

	unixLines bool // Changes.UnixLines
}

// Change is the result of an edit.
type Change struct {
	Document
	Changed  bool   // whether there is anything to store
	Dropped  int    // how many of the oldest Edits were dropped
	NewEdits []Edit // the new ones, at the end of Edits; none if the history is off
}

// Edit applies the changes at now, or at the time of the last edit if that is later, so that the times of a history
// never go back. It does not modify stored. Document.EditableBy says who may edit.
//
// It records each changed value in one entry: the title, then title, language and code of each pasty in the requested
// order, then removed pasties, then added ones. It validates changed values only, because imported ones may break the
// rules. It fails with ErrEdited when the changes were made to another Revision and would change anything, and with a
// fault.Invalid that names the first field that breaks a rule. It also fails with fault.Invalid when the new entries
// alone exceed the limits of a history: dropping them would break the way back, and their number would be used again.
func (r Rules) Edit(stored Document, changes Changes, now time.Time) (Change, error) {
	e := &editor{rules: r, at: now.UTC().Truncate(time.Second), Change: Change{Document: stored}}
	for _, earlier := range stored.Edits {
		e.number = max(e.number, earlier.Number+1)
	}
	// Clocks of two nodes differ, and an edit may have waited for another one after it read the clock.
	if n := len(stored.Edits); n > 0 && e.at.Before(stored.Edits[n-1].At) {
		e.at = stored.Edits[n-1].At
	}
	outdated := changes.Base != "" && changes.Base != stored.Revision()
	for _, step := range []func(Changes) error{e.title, e.visibility, e.tags, e.pasties} {
		if err := step(changes); err != nil && !outdated {
			return Change{}, err
		} else if outdated && (err != nil || e.Changed) {
			return Change{}, ErrEdited
		}
	}
	if err := e.appendHistory(); err != nil {
		return Change{}, err
	}
	return e.Change, nil
}

// editor is an edit in progress.
type editor struct {
	Change
	rules  Rules
	at     time.Time
	number int64
}

func (e *editor) record(kind EditType, text string, metadata ...string) {
	e.Changed = true
	e.NewEdits = append(e.NewEdits, Edit{Number: e.number, Type: kind, Metadata: metadata, Text: text, At: e.at})
}

func (e *editor) title(changes Changes) error {
	if changes.Title == nil || *changes.Title == e.Title {
		return nil
	}
	if err := checkText("title", *changes.Title, MaxTitle); err != nil {
		return err
	}
	e.record(EditTitle, e.Title)
	e.Title = *changes.Title
	return nil
}

func (e *editor) visibility(changes Changes) error {
	private, public := e.Visibility == Private, e.Visibility == Public
	if changes.Private != nil {
		private = *changes.Private
	}
	if changes.Public != nil {
		public = *changes.Public
	}
	visibility, err := visibilityOf(private, public, e.Burns)
	if err != nil {
		return err
	}
	e.Changed = e.Changed || visibility != e.Visibility
	e.Visibility = visibility
	return nil
}

func (e *editor) tags(changes Changes) error {
	if changes.Tags == nil || sameTags(changes.Tags, e.Tags) {
		return nil
	}
	tags, err := ParseTags(changes.Tags...)
	if err != nil {
		return err
	}
	e.Tags, e.Changed = tags, true
	return nil
}

func (e *editor) pasties(changes Changes) error {
	if len(changes.Pasties) == 0 {
		return nil
	}
	// An imported paste can have an id twice. Such pasties are matched in order.
	before, indexes, present := e.Pasties, make(map[string][]int), make([]bool, len(e.Pasties))
	for i, p := range before {
		indexes[p.ID] = append(indexes[p.ID], i)
	}
	var (
		after, added []Pasty
		order        []int // old positions of the pasties that stay
	)
	for i, change := range changes.Pasties {
		at := place{index: i, label: change.Label}
		change.unixLines = changes.UnixLines
		if change.ID == "" {
			p, err := e.rules.newPasty(at, change, "")
			if err != nil {
				return err
			}
			after, added = append(after, p), append(added, p)
			continue
		}
		if len(indexes[change.ID]) == 0 {
			return invalid(at.field("_id"), "the paste has no pasty with that id, or the id occurs twice.")
		}
		index := indexes[change.ID][0]
		indexes[change.ID], present[index] = indexes[change.ID][1:], true
		p, err := e.pasty(at, before[index], change)
		if err != nil {
			return err
		}
		after, order = append(after, p), append(order, index)
	}
	for i, p := range before {
		if !present[i] {
			e.record(EditPastyRemoved, p.Code, p.ID, p.Title, p.Language)
		}
	}
	for _, p := range added {
		e.record(EditPastyAdded, p.Code, p.ID, p.Title, p.Language)
	}
	if len(after) > len(before) {
		if err := e.rules.checkNumber(len(after)); err != nil {
			return err
		}
	}
	e.Changed = e.Changed || !slices.IsSorted(order)
	e.Pasties = after
	return e.rules.checkSize(after, size(before))
}

// pasty returns the pasty with the changes applied, which are at that place of the request.
func (e *editor) pasty(at place, before Pasty, changes PastyChanges) (Pasty, error) {
	p, err := e.rules.pasty(at, before, changes, "")
	if err != nil {
		return Pasty{}, err
	}
	if p.Title != before.Title {
		e.record(EditPastyTitle, before.Title, p.ID)
	}
	if p.Language != before.Language {
		e.record(EditPastyLanguage, before.Language, p.ID)
	}
	if p.Code != before.Code {
		e.record(EditPastyCode, e.rules.Diff(before.Code, p.Code), p.ID)
	}
	return p, nil
}

// appendHistory appends the recorded entries to the history, and drops the oldest edits beyond the limits. It drops
// whole edits, because half of one would lead back to a paste that never existed. It fails when the new edit alone
// exceeds the limits. A limit of zero turns the history off.
func (e *editor) appendHistory() error {
	if len(e.NewEdits) == 0 {
		return nil
	}
	for i := range e.NewEdits {
		e.NewEdits[i].ID = e.rules.NewID()
	}
	limits := e.rules.Limits
	before := len(e.Edits)
	entries := slices.Concat(e.Edits, e.NewEdits)
	first, bytes := len(entries), 0
	for at, entry := range slices.Backward(entries) {
		if bytes += entry.size(); bytes > limits.HistoryBytes || len(entries)-at > limits.Edits {
			break
		}
		if at == 0 || entries[at-1].Number != entry.Number {
			first = at
		}
	}
	if first > before && limits.Edits > 0 && limits.HistoryBytes > 0 {
		return fault.New(fault.Invalid, fmt.Sprintf(
			"The edit changes too much at once: the history of a paste has room for %d changes of %d bytes together. "+
				"Make several smaller edits.", limits.Edits, limits.HistoryBytes))
	}
	e.Edits, e.Dropped = entries[first:], min(first, before)
	e.NewEdits = entries[max(first, before):]
	return nil
}

func (e Edit) size() int {
	bytes := len(e.Text)
	for _, text := range e.Metadata {
		bytes += len(text)
	}
	return bytes
}
