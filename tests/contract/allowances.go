package contract

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/user"
)

// sized is a paste of that many bytes.
func sized(id paste.ID, owner user.ID, bytes int) paste.Document {
	return paste.Document{
		Paste:   paste.Paste{ID: id, Owner: owner, CreatedAt: now},
		Content: paste.Content{Pasties: []paste.Pasty{{ID: "only", Language: "Go", Code: string(make([]byte, bytes))}}},
	}
}

// wantRefused checks the error about a user who has no room.
func wantRefused(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Forbidden) || !errors.Is(err, paste.ErrAllowance) {
		t.Errorf("%s: got %v, want it refused by the allowance", what, err)
	}
}

// allowed creates a paste of a user who may not have any number of them.
func allowed(ctx context.Context, s DocumentStore, allowance paste.Allowance, created paste.Document) error {
	_, err := s.Documents.CreateAllowed(ctx, nowhere, allowance, paste.ClientOf(created.Owner), created)
	return err
}

func allowances(t *testing.T, s DocumentStore) {
	owner, other := storedUser(t, s.Store, "owner").ID, storedUser(t, s.Store, "other").ID
	create := func(allowance paste.Allowance, created paste.Document) error {
		err := allowed(t.Context(), s, allowance, created)
		return err
	}
	two := paste.Allowance{Pastes: 2}
	expired := sized("expired", owner, 1000)
	expired.ExpiresAt = now.Add(time.Second)
	must(t, s.Documents.CreateDocument(t.Context(), expired)) // counts for nothing
	must(t, create(two, sized("one", owner, 10)))
	wantStored(t, s, "one", sized("one", owner, 10))
	must(t, create(two, sized("two", owner, 10)))
	wantRefused(t, "a third", create(two, sized("three", owner, 10)))
	wantNoDocument(t, s, "three")
	must(t, create(two, sized("others", other, 10)))
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, "two", func(paste.Paste) error { return nil }))
	must(t, create(two, sized("three", owner, 10)))

	bytes := paste.Allowance{Bytes: 100}
	wantRefused(t, "81 bytes beside 20", create(bytes, sized("four", owner, 81)))
	must(t, create(bytes, sized("four", owner, 80)))
	wantRefused(t, "a byte more", create(bytes, sized("five", owner, 1)))
	must(t, create(paste.Allowance{}, sized("five", owner, 1)))

	wantIDTaken(t, create(paste.Allowance{Pastes: 100}, sized("five", owner, 1)))
	wantKind(t, create(two, sized("six", "nobody", 1)), fault.NotFound)
	err := allowed(cancelled(t), s, two, sized("six", other, 1))
	wantKind(t, err, fault.Unavailable)
}

func allowancesOfEdits(t *testing.T, s DocumentStore) {
	owner, other := storedUser(t, s.Store, "owner").ID, storedUser(t, s.Store, "other").ID
	must(t, s.Documents.CreateDocument(t.Context(), sized("one", owner, 50)))
	must(t, s.Documents.CreateDocument(t.Context(), sized("two", owner, 40)))
	must(t, s.Documents.CreateDocument(t.Context(), sized("others", other, 1000)))
	edit := func(bytes int, history string) error {
		_, err := s.Documents.UpdateAllowed(t.Context(), nowhere, paste.Allowance{Bytes: 100, Pastes: 1}, "", owner, "one",
			func(stored paste.Document) (paste.Change, error) {
				changed := paste.Change{Document: stored, Changed: true}
				changed.Pasties = sized("", "", bytes).Pasties
				changed.Edits = []paste.Edit{{ID: "e", Text: history, At: now.UTC().Truncate(time.Second)}}
				return changed, nil
			})
		return err
	}
	must(t, edit(60, ""))
	wantRefused(t, "a byte more", edit(61, ""))
	wantRefused(t, "a byte of history", edit(60, "x"))
	must(t, edit(50, "0123456789"))
	must(t, edit(10, ""))
	must(t, edit(60, ""))
	doc, err := s.Documents.DocumentByID(t.Context(), "one")
	must(t, err)
	want(t, "bytes", doc.Bytes(), 60)
	wrong := errors.New("not yours")
	_, err = s.Documents.UpdateAllowed(t.Context(), nowhere, paste.Allowance{Bytes: 100}, "", owner, "others",
		func(paste.Document) (paste.Change, error) { return paste.Change{}, wrong })
	if !errors.Is(err, wrong) {
		t.Errorf("got %v, want the error of the change", err)
	}
	_, err = s.Documents.UpdateAllowed(cancelled(t), nowhere, paste.Allowance{Bytes: 100}, "", owner, "one",
		func(stored paste.Document) (paste.Change, error) { return paste.Change{Document: stored}, nil })
	wantKind(t, err, fault.Unavailable)
}

func allowancesByRate(t *testing.T, s DocumentStore) {
	owner, other := storedUser(t, s.Store, "owner").ID, storedUser(t, s.Store, "other").ID
	quota := paste.Quota{Pastes: 2, Window: time.Hour, Signed: true}
	for range quota.Pastes {
		must(t, allowed(t.Context(), s, paste.Allowance{Rate: quota}, sized(paste.ID(ident.New()), owner, 1)))
	}
	err := allowed(t.Context(), s, paste.Allowance{Rate: quota}, sized("late", owner, 1))
	wantExhausted(t, err, quota)
	wantNoDocument(t, s, "late")
	err = allowed(t.Context(), s, paste.Allowance{Rate: quota}, sized("late", other, 1))
	must(t, err)
	one := paste.Allowance{Rate: paste.Quota{Pastes: 1, Window: time.Hour}}
	_, err = s.Documents.CreateAllowed(t.Context(), nowhere, one, paste.Client(other), sized("anonymous", "", 1))
	must(t, err) // a client is no user
	giveUp := func(client paste.Client, by user.ID) error {
		_, err := s.Documents.UpdateAllowed(t.Context(), nowhere, one, client, "", "late",
			func(stored paste.Document) (paste.Change, error) {
				created, err := stored.Anonymous(by, paste.KeyHash{1}, paste.Never, now)
				return paste.Change{Document: created, Changed: true}, err
			})
		return err
	}
	wantExhausted(t, giveUp(paste.Client(other), other), one.Rate)
	wantKind(t, giveUp("fresh", owner), fault.NotFound)
	must(t, giveUp("fresh", other)) // what was refused did not count
}

// allowancesMeet has several callers add to what a user has, in every way: the user has what is allowed and no more.
func allowancesMeet(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	allowance := paste.Allowance{Pastes: 10, Bytes: 150}
	must(t, s.Documents.CreateDocument(t.Context(), sized("grows", owner, 0)))
	var created, grown atomic.Int64
	wantNoErrors(t, meet(func(int) error {
		for range 10 {
			err := allowed(t.Context(), s, allowance, sized(paste.ID(ident.New()), owner, 10))
			if err == nil {
				created.Add(1)
			} else if !errors.Is(err, paste.ErrAllowance) {
				return err
			}
			_, err = s.Documents.UpdateAllowed(
				t.Context(),
				nowhere,
				allowance,
				"",
				owner,
				"grows",
				func(stored paste.Document) (paste.Change, error) {
					changed := paste.Change{Document: stored, Changed: true}
					changed.Pasties = sized("", "", len(stored.Pasties[0].Code)+10).Pasties
					return changed, nil
				},
			)
			if err == nil {
				grown.Add(10)
			} else if !errors.Is(err, paste.ErrAllowance) {
				return err
			}
		}
		return nil
	}))
	if created.Load() > 9 {
		t.Errorf("got %d more pastes, want at most 9", created.Load())
	}
	doc, err := s.Documents.DocumentByID(t.Context(), "grows")
	must(t, err)
	want(t, "grown", doc.Bytes(), grown.Load())
	want(t, "all bytes", doc.Bytes()+10*created.Load(), 150)
}

// totalBytes counts what pastes hold, who has most of it, and when they were created.
func totalBytes(t *testing.T, s DocumentStore) {
	small, large := storedUser(t, s.Store, "small"), storedUser(t, s.Store, "large")
	storedUser(t, s.Store, "nothing")
	today := time.Now().UTC().Truncate(24 * time.Hour)
	create := func(d paste.Document, created time.Time) {
		t.Helper()
		d.CreatedAt = created
		must(t, s.Documents.CreateDocument(t.Context(), d))
	}
	create(sized("a", small.ID, 10), today)
	create(sized("b", small.ID, 5), today.Add(-time.Microsecond))
	edited := sized("c", large.ID, 20)
	edited.Edits = []paste.Edit{{ID: "e", Text: "1234567", At: today}}
	edited.ExpiresAt = now
	create(edited, today.AddDate(0, 0, -29))
	create(sized("d", "", 100), today.AddDate(0, 0, -30))
	got, err := s.Stats.Totals(t.Context())
	must(t, err)
	got.DatabaseBytes = 0 // a fake has none
	want(t, "bytes", got.Bytes, stats.Bytes{ContentBytes: 135, HistoryBytes: 7})
	if len(got.Largest) != 2 || got.Largest[0] != (stats.Holder{Username: "large", Pastes: 1, Bytes: 27}) ||
		got.Largest[1] != (stats.Holder{Username: "small", Pastes: 2, Bytes: 15}) {
		t.Errorf("got %+v as the largest, want large and small", got.Largest)
	}
	tagged := sized("t", small.ID, 1000)
	tagged.Tags = []string{"a\x00b\x1a", "ü"}
	create(tagged, today)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, small.ID, small.Name, &user.PasteRetention{}))
	kept, err := s.Stats.Totals(t.Context())
	must(t, err)
	want(t, "bytes, once tags have gone with their owner", kept.ContentBytes, 1135)
	if len(got.Days) != stats.MostDays {
		t.Fatalf("got %d days, want %d", len(got.Days), stats.MostDays)
	}
	for i, day := range got.Days {
		expected := int64(0)
		if i == 0 || i == 1 || i == 29 {
			expected = 1
		}
		if day.Pastes != expected || !day.Begin.Equal(today.AddDate(0, 0, -i)) {
			t.Errorf("got %+v, want %d pastes %d days ago", day, expected, i)
		}
	}
}
