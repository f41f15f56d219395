package imports_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/contract"
)

// batchStore accepts most pastes, and records the sizes of its batches.
type batchStore struct{ batches []int }

func (s *batchStore) Import(_ context.Context, pastes []paste.Import, _ paste.Orphans) ([]batch.Result, error) {
	s.batches = append(s.batches, len(pastes))
	results := make([]batch.Result, len(pastes))
	for i, p := range pastes {
		switch p.ID {
		case "outage":
			return nil, fault.New(fault.Unavailable, "x")
		case "refused":
			results[i].Err = fault.New(fault.NotFound, "refused")
		case "unchanged":
			results[i].Outcome = batch.Unchanged
		}
	}
	return results, nil
}

// importer is the part of a store that imports pastes.
type importer interface {
	Import(ctx context.Context, pastes []paste.Import, orphans paste.Orphans) ([]batch.Result, error)
}

// importStore is a store that only imports.
type importStore struct {
	paste.Store

	importer importer
}

func (s importStore) Import(ctx context.Context, pastes []paste.Import, orphans paste.Orphans) ([]batch.Result, error) {
	return s.importer.Import(ctx, pastes, orphans)
}

func importerOf(pastes importer) *imports.Pastes {
	return imports.New(nil, nil, importStore{importer: pastes}, time.Now).Pastes
}

func records(ids ...string) imports.Source[paste.Import] {
	return func(context.Context) imports.Records[paste.Import] {
		return func(yield func(imports.Record[paste.Import], error) bool) {
			for i, id := range ids {
				record := imports.Record[paste.Import]{Value: wholePaste(id), Line: i + 1, Raw: []byte(id)}
				if id == "broken" {
					record.Err = fault.New(fault.Invalid, "broken")
				}
				if id == "unreadable" {
					yield(imports.Record[paste.Import]{}, errors.New("disk"))
					return
				}
				if !yield(record, nil) {
					return
				}
			}
		}
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	var rejected []string
	reject := func(line int, raw []byte, reason error) error {
		rejected = append(rejected, fmt.Sprint(line, " ", string(raw), " ", reason))
		return nil
	}
	many := make([]string, 2500)
	for i := range many {
		many[i] = fmt.Sprint("id", i)
	}
	s := new(batchStore)
	source := records(append(many, "unchanged", "broken", "refused", "odd id")...)
	summary, err := importerOf(s).Do(t.Context(), audit.Operator(), source, paste.RefuseOrphans, reject)
	if want := (imports.Summary{Read: 2504, New: 2500, Unchanged: 1, Rejected: 3}); err != nil || summary != want {
		t.Errorf("got %+v, error %v, want %+v", summary, err, want)
	}
	if !slices.Equal(s.batches, []int{2000, 502}) {
		t.Errorf("got batches of %v, want 2000 and 502", s.batches)
	}
	slices.Sort(rejected)
	if len(rejected) != 3 || rejected[0] != "2502 broken broken" || rejected[1] != "2503 refused refused" ||
		!strings.HasPrefix(rejected[2], "2504 odd id A paste id") {
		t.Errorf("got %q rejected, want 2502 broken, 2503 refused and 2504 odd id", rejected)
	}
	_, err = importerOf(s).Do(t.Context(), audit.Operator(), records("a", "outage"), paste.RefuseOrphans, reject)
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want %v", err, fault.Unavailable)
	}
	_, err = importerOf(s).Do(t.Context(), audit.Operator(), records("a", "unreadable"), paste.RefuseOrphans, reject)
	if err == nil || err.Error() != "disk" {
		t.Errorf("got %v, want disk", err)
	}
	full := errors.New("disk full")
	if _, err := importerOf(s).Do(t.Context(), audit.Operator(), records("broken", "a"), paste.RefuseOrphans,
		func(int, []byte, error) error {
			return full
		}); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

// pasteImporter is a function as an importer.
type pasteImporter func(ctx context.Context, pastes []paste.Import) ([]batch.Result, error)

func (f pasteImporter) Import(ctx context.Context, pastes []paste.Import, _ paste.Orphans) ([]batch.Result, error) {
	return f(ctx, pastes)
}

func storeAll(_ context.Context, pastes []paste.Import) ([]batch.Result, error) {
	return make([]batch.Result, len(pastes)), nil
}

// wholePaste returns the smallest paste that is valid.
func wholePaste(id string) paste.Import {
	return paste.Import{ID: paste.ID(id), CreatedAt: time.Unix(1, 0), Pasties: []paste.Pasty{}}
}

func newRecord(line int, raw []byte) imports.Record[paste.Import] {
	return imports.Record[paste.Import]{Value: wholePaste(fmt.Sprint("id", line)), Line: line, Raw: raw}
}

// endlessPastes is a source that never ends.
func endlessPastes(context.Context) imports.Records[paste.Import] {
	return func(yield func(imports.Record[paste.Import], error) bool) {
		for i := 1; yield(newRecord(i, []byte("x")), nil); i++ {
		}
	}
}

// silentPastes is a source that has one record and then waits for more until ctx ends.
func silentPastes(ctx context.Context) imports.Records[paste.Import] {
	return func(yield func(imports.Record[paste.Import], error) bool) {
		if yield(newRecord(1, []byte("x")), nil) {
			<-ctx.Done()
			yield(imports.Record[paste.Import]{}, context.Cause(ctx))
		}
	}
}

// TestImportsEndTheirReader ends imports early in every way. synctest fails the test if a goroutine goes on.
func TestImportsEndTheirReader(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	accept := func(int, []byte, error) error { return nil }
	refuse := func(_ context.Context, pastes []paste.Import) ([]batch.Result, error) {
		results := make([]batch.Result, len(pastes))
		results[0].Err = fault.New(fault.NotFound, "refused")
		return results, nil
	}
	fail := func(context.Context, []paste.Import) ([]batch.Result, error) { return nil, cause }
	hang := func(ctx context.Context, _ []paste.Import) ([]batch.Result, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	for name, c := range map[string]struct {
		source imports.Source[paste.Import]
		store  pasteImporter
		reject imports.Reject
		cancel bool
	}{
		"the store fails":          {endlessPastes, fail, accept, false},
		"a reject fails":           {endlessPastes, refuse, func(int, []byte, error) error { return cause }, false},
		"cancelled while storing":  {endlessPastes, hang, accept, true},
		"cancelled between":        {endlessPastes, storeAll, accept, true},
		"cancelled while it waits": {silentPastes, storeAll, accept, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.cancel && name == "cancelled between" {
					batches := 0
					c.store = func(ctx context.Context, pastes []paste.Import) ([]batch.Result, error) {
						if batches++; batches == 3 {
							cancel(cause)
						}
						return storeAll(ctx, pastes)
					}
				} else if c.cancel {
					time.AfterFunc(time.Minute, func() { cancel(cause) })
				}
				if _, err := importerOf(c.store).Do(ctx, audit.Operator(), c.source,
					paste.RefuseOrphans, c.reject); !errors.Is(err, cause) {
					t.Errorf("got %v, want %v", err, cause)
				}
			})
		})
	}
}

// TestImportsKeepText imports from a source that uses one buffer for all records, as Record.Raw allows.
func TestImportsKeepText(t *testing.T) {
	t.Parallel()
	lengths := []int{10, 20, 2 << 20, 30, 3 << 20, 2 << 20, 40}
	source := func(context.Context) imports.Records[paste.Import] {
		return func(yield func(imports.Record[paste.Import], error) bool) {
			buffer := make([]byte, 3<<20)
			for i, length := range lengths {
				for j := range buffer {
					buffer[j] = byte(i)
				}
				if !yield(newRecord(i, buffer[:length]), nil) {
					return
				}
			}
		}
	}
	var batches []int
	refuse := func(_ context.Context, pastes []paste.Import) ([]batch.Result, error) {
		batches = append(batches, len(pastes))
		results := make([]batch.Result, len(pastes))
		for i := range results {
			results[i].Err = fault.New(fault.NotFound, "refused")
		}
		return results, nil
	}
	rejected := 0
	importer := importerOf(pasteImporter(refuse))
	_, err := importer.Do(t.Context(), audit.Operator(), source, paste.RefuseOrphans,
		func(line int, raw []byte, _ error) error {
			if rejected != line || len(raw) != lengths[line] || slices.ContainsFunc(raw, func(b byte) bool {
				return b != byte(line)
			}) {
				t.Errorf("got record %d of %d bytes in place %d, want its own bytes, in its own place", line, len(raw), rejected)
			}
			rejected++
			return nil
		})
	if err != nil || rejected != len(lengths) || !slices.Equal(batches, []int{3, 2, 1, 1}) {
		t.Errorf("got %d rejected, batches of %v, error %v, want %d in batches of 3, 2, 1 and 1", rejected, batches,
			err, len(lengths))
	}
}

// TestImportsOfFailingStores checks that if the store fails, broken records are rejected and earlier batches counted.
func TestImportsOfFailingStores(t *testing.T) {
	t.Parallel()
	var rejected []int
	ids := make([]string, 2000)
	for i := range ids {
		ids[i] = fmt.Sprint("id", i)
	}
	source := records(append(ids, "a", "broken", "outage")...)
	importer := importerOf(new(batchStore))
	summary, err := importer.Do(t.Context(), audit.Operator(), source, paste.RefuseOrphans,
		func(line int, _ []byte, _ error) error {
			rejected = append(rejected, line)
			return nil
		})
	want := imports.Summary{Read: 2001, New: 2000, Rejected: 1}
	if !fault.Is(err, fault.Unavailable) || summary != want || !slices.Equal(rejected, []int{2002}) {
		t.Errorf("got %+v, %v rejected, error %v, want %+v, record 2002 and %v", summary, rejected, err, want,
			fault.Unavailable)
	}
	// A record counts as rejected only if reporting it succeeds.
	full, rejects := errors.New("no space left on device"), 0
	source = records("a", "broken", "broken", "b", "broken")
	summary, err = importerOf(new(batchStore)).Do(t.Context(), audit.Operator(), source, paste.RefuseOrphans,
		func(int, []byte, error) error {
			if rejects++; rejects > 1 {
				return full
			}
			return nil
		})
	if want = (imports.Summary{Read: 3, New: 2, Rejected: 1}); !errors.Is(err, full) || summary != want {
		t.Errorf("got %+v, error %v, want %+v and %v", summary, err, want, full)
	}
	// Records that a source returned before it failed are stored.
	s := new(batchStore)
	summary, err = importerOf(s).Do(t.Context(), audit.Operator(), records("a", "b", "unreadable"),
		paste.RefuseOrphans, nil)
	if err == nil || summary.New != 2 || !slices.Equal(s.batches, []int{2}) {
		t.Errorf("got %+v, batches of %v, error %v, want 2 new ones in one batch and an error", summary, s.batches, err)
	}
}

// userImporter accepts every account.
type userImporter struct{ user.Store }

func (userImporter) Import(_ context.Context, accounts []user.Import) ([]batch.Result, error) {
	return make([]batch.Result, len(accounts)), nil
}

func TestImportsBoundUsers(t *testing.T) {
	t.Parallel()
	stars := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprint("p", i)
		}
		return all
	}
	services := func(n int) map[string]string {
		all := make(map[string]string, n)
		for i := range n {
			all[fmt.Sprint("s", i)] = "1"
		}
		return all
	}
	var users []imports.User
	for i, n := range []int{imports.MaxStars, 1, imports.MaxStars + 1} {
		users = append(users, imports.User{ID: fmt.Sprint("u", i), Name: fmt.Sprint("u", i), Stars: stars(n)})
	}
	users[1].Identities = services(imports.MaxIdentities)
	users = append(users, imports.User{ID: "many", Name: "many", Identities: services(imports.MaxIdentities + 1)})
	source := func(context.Context) imports.Records[imports.User] {
		return func(yield func(imports.Record[imports.User], error) bool) {
			for i, u := range users {
				if !yield(imports.Record[imports.User]{Value: u, Line: i, Raw: []byte("x")}, nil) {
					return
				}
			}
		}
	}
	var reasons []string
	importing := imports.New(userImporter{}, nil, nil, time.Now).Users
	summary, err := importing.Do(t.Context(), audit.Operator(), source, func(line int, _ []byte, reason error) error {
		reasons = append(reasons, fmt.Sprint(line, " ", reason))
		return nil
	})
	if err != nil || summary != (imports.Summary{Read: 4, New: 2, Rejected: 2}) {
		t.Errorf("got %+v, error %v, want 4 read, 2 new, 2 rejected", summary, err)
	}
	if got := strings.Join(reasons,
		"; "); got != "2 The user has more than 100000 stars.; 3 The user has more than 100 accounts at providers." {
		t.Errorf("got %s, want too many stars in line 2 and too many services in line 3", got)
	}
}

// TestImportsOfContent checks that what can be stored whole is accepted, and the rest rejected with a reason.
func TestImportsOfContent(t *testing.T) {
	t.Parallel()
	edit := func(e paste.Edit) paste.Content {
		if e.At.IsZero() {
			e.At = time.Unix(0, 0)
		}
		return paste.Content{Edits: []paste.Edit{e}}
	}
	for what, c := range map[string]struct {
		paste  paste.Content
		reason string // empty if the paste is accepted
	}{
		"nothing": {paste.Content{}, ""},
		"text that breaks rules": {paste.Content{Title: strings.Repeat("x", 9000),
			Pasties: []paste.Pasty{{Code: "\x00\r\n"}}}, ""},
		"an odd lifetime":    {paste.Content{Lifetime: "odd"}, ""},
		"an encrypted paste": {paste.Content{Cipher: &paste.Cipher{Data: []byte("\xff")}}, ""},
		"the last type":      {edit(paste.Edit{Type: 5, Number: 1 << 40}), ""},
		"the most parts":     {paste.Content{Tags: []string{"a"}, Pasties: make([]paste.Pasty, imports.MaxParts-1)}, ""},
		"many parts": {paste.Content{Tags: []string{"a"}, Pasties: make([]paste.Pasty, imports.MaxParts)},
			"more than 100000"},
		"much metadata":       {edit(paste.Edit{Metadata: make([]string, imports.MaxParts)}), "more than 100000"},
		"a zero lifetime":     {paste.Content{Lifetime: "1\x00d"}, "expiresIn"},
		"a long lifetime":     {paste.Content{Lifetime: paste.Lifetime(strings.Repeat("1", 65))}, "expiresIn"},
		"encrypted nothing":   {paste.Content{Cipher: &paste.Cipher{}}, "no encrypted data"},
		"encrypted and not":   {paste.Content{Cipher: &paste.Cipher{Salt: []byte("a")}, Title: "a"}, "that are not"},
		"an unknown type":     {edit(paste.Edit{Type: 6}), "must be 0 to 5"},
		"a negative type":     {edit(paste.Edit{Type: -1}), "must be 0 to 5"},
		"a negative number":   {edit(paste.Edit{Number: -1}), "number"},
		"the largest number":  {edit(paste.Edit{Number: 1<<63 - 1}), "number"},
		"an edit before time": {edit(paste.Edit{At: time.Unix(-1, 0)}), "time"},
	} {
		record := contract.Whole(paste.Document{Content: c.paste})[0]
		record.ID, record.CreatedAt = "id", time.Unix(1, 0)
		record.Pasties = append([]paste.Pasty{}, record.Pasties...)
		source := func(context.Context) imports.Records[paste.Import] {
			return func(yield func(imports.Record[paste.Import], error) bool) {
				yield(imports.Record[paste.Import]{Value: record, Line: 1, Raw: []byte("x")}, nil)
			}
		}
		reason := ""
		_, err := importerOf(new(batchStore)).Do(t.Context(), audit.Operator(), source, paste.RefuseOrphans,
			func(_ int, _ []byte, why error) error {
				reason = fault.MessageOf(why)
				return nil
			})
		if err != nil || (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: got %q, error %v, want %q", what, reason, err, c.reason)
		}
	}
	// Tags are a set.
	source := func(context.Context) imports.Records[paste.Import] {
		return func(yield func(imports.Record[paste.Import], error) bool) {
			odd := wholePaste("id")
			odd.Tags = []string{"b", "a", "b"}
			yield(imports.Record[paste.Import]{Value: odd, Line: 1, Raw: []byte("x")}, nil)
		}
	}
	var got []paste.Import
	_, err := importerOf(pasteImporter(func(ctx context.Context, pastes []paste.Import) ([]batch.Result, error) {
		got = pastes
		return storeAll(ctx, pastes)
	})).Do(t.Context(), audit.Operator(), source, paste.RefuseOrphans, nil)
	if err != nil || len(got) != 1 || !slices.Equal(got[0].Tags, []string{"a", "b"}) {
		t.Errorf("got %+v, error %v, want a paste with the tags a and b", got, err)
	}
}
