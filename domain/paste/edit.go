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
func (r Rules) Edit(stored Document, wanted Changes, now time.Time) (Change, error) {
	e := &editing{rules: r, at: now.UTC().Truncate(time.Second), Change: Change{Document: stored}}
	for _, known := range stored.Edits {
		e.number = max(e.number, known.Number+1)
	}
	// Clocks of two nodes differ, and an edit may have waited for another one after it read the clock.
	if n := len(stored.Edits); n > 0 && e.at.Before(stored.Edits[n-1].At) {
		e.at = stored.Edits[n-1].At
	}
	outdated := wanted.Base != "" && wanted.Base != stored.Revision()
	for _, step := range []func(Changes) error{e.title, e.visibility, e.tags, e.pasties} {
		if err := step(wanted); err != nil && !outdated {
			return Change{}, err
		} else if outdated && (err != nil || e.Changed) {
			return Change{}, ErrEdited
		}
	}
	if err := e.remember(); err != nil {
		return Change{}, err
	}
	return e.Change, nil
}

// editing is an edit in progress.
type editing struct {
	Change
	rules  Rules
	at     time.Time
	number int64
}

func (e *editing) record(kind EditType, text string, metadata ...string) {
	e.Changed = true
	e.NewEdits = append(e.NewEdits, Edit{Number: e.number, Type: kind, Metadata: metadata, Text: text, At: e.at})
}

func (e *editing) title(wanted Changes) error {
	if wanted.Title == nil || *wanted.Title == e.Title {
		return nil
	}
	if err := checkText("title", *wanted.Title, MaxTitle); err != nil {
		return err
	}
	e.record(EditTitle, e.Title)
	e.Title = *wanted.Title
	return nil
}

func (e *editing) visibility(wanted Changes) error {
	private, public := e.Visibility == Private, e.Visibility == Public
	if wanted.Private != nil {
		private = *wanted.Private
	}
	if wanted.Public != nil {
		public = *wanted.Public
	}
	visibility, err := visibilityOf(private, public, e.Burns)
	if err != nil {
		return err
	}
	e.Changed = e.Changed || visibility != e.Visibility
	e.Visibility = visibility
	return nil
}

func (e *editing) tags(wanted Changes) error {
	if wanted.Tags == nil || sameTags(wanted.Tags, e.Tags) {
		return nil
	}
	tags, err := ParseTags(wanted.Tags...)
	if err != nil {
		return err
	}
	e.Tags, e.Changed = tags, true
	return nil
}

func (e *editing) pasties(wanted Changes) error {
	if len(wanted.Pasties) == 0 {
		return nil
	}
	// An imported paste can have an id twice. Such pasties are matched in order.
	before, places, kept := e.Pasties, make(map[string][]int), make([]bool, len(e.Pasties))
	for i, known := range before {
		places[known.ID] = append(places[known.ID], i)
	}
	var (
		after, added []Pasty
		order        []int // old positions of the pasties that stay
	)
	for i, change := range wanted.Pasties {
		at := place{index: i, label: change.Label}
		change.unixLines = wanted.UnixLines
		if change.ID == "" {
			made, err := e.rules.newPasty(at, change, "")
			if err != nil {
				return err
			}
			after, added = append(after, made), append(added, made)
			continue
		}
		if len(places[change.ID]) == 0 {
			return invalid(at.field("_id"), "the paste has no pasty with that id, or it is here twice.")
		}
		stood := places[change.ID][0]
		places[change.ID], kept[stood] = places[change.ID][1:], true
		changed, err := e.pasty(at, before[stood], change)
		if err != nil {
			return err
		}
		after, order = append(after, changed), append(order, stood)
	}
	for i, known := range before {
		if !kept[i] {
			e.record(EditPastyRemoved, known.Code, known.ID, known.Title, known.Language)
		}
	}
	for _, made := range added {
		e.record(EditPastyAdded, made.Code, made.ID, made.Title, made.Language)
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
func (e *editing) pasty(at place, before Pasty, wanted PastyChanges) (Pasty, error) {
	p, err := e.rules.pasty(at, before, wanted, "")
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

// remember appends the recorded entries to the history, and drops the oldest edits beyond the limits. It drops whole
// edits, because half of one would lead back to a paste that never existed. It fails when the new edit alone exceeds
// the limits. A limit of zero turns the history off.
func (e *editing) remember() error {
	if len(e.NewEdits) == 0 {
		return nil
	}
	for i := range e.NewEdits {
		e.NewEdits[i].ID = e.rules.NewID()
	}
	limits := e.rules.Limits
	stored := len(e.Edits)
	all := slices.Concat(e.Edits, e.NewEdits)
	first, bytes := len(all), 0
	for at, a := range slices.Backward(all) {
		if bytes += a.size(); bytes > limits.HistoryBytes || len(all)-at > limits.Edits {
			break
		}
		if at == 0 || all[at-1].Number != a.Number {
			first = at
		}
	}
	if first > stored && limits.Edits > 0 && limits.HistoryBytes > 0 {
		return fault.New(fault.Invalid, fmt.Sprintf(
			"The edit changes too much at once: the history of a paste has room for %d changes of %d bytes together. "+
				"Make several smaller edits.", limits.Edits, limits.HistoryBytes))
	}
	e.Edits, e.Dropped = all[first:], min(first, stored)
	e.NewEdits = all[max(first, stored):]
	return nil
}

func (e Edit) size() int {
	bytes := len(e.Text)
	for _, text := range e.Metadata {
		bytes += len(text)
	}
	return bytes
}
