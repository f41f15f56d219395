package pastes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/modules"
)

// fixture is the modules with their use cases of pastes, and two users who have signed in.
type fixture struct {
	*modules.Modules
	*pastes.UseCases
	mia, noa token.Viewer
	limits   paste.Limits
}

// visitor is a viewer who has not signed in.
var visitor token.Viewer

func newFixture(t *testing.T, anonymous bool) *fixture {
	t.Helper()
	m := modules.New()
	m.Now = m.Now.Add(123456789) // finer than stores keep
	f := &fixture{Modules: m}
	for name, viewer := range map[string]*token.Viewer{"mia": &f.mia, "noa": &f.noa} {
		m.CreateUser(t, users.CreateInput{Name: name})
		*viewer = m.SignIn(t, name)
	}
	catalogue := modules.Languages{
		"name go": {Name: "Go"}, "name golang": {Name: "Go"}, "extension go": {Name: "Go"},
		"name Plain Text": {Name: "Plain Text"},
	}
	f.limits = paste.DefaultLimits()
	rules := paste.Rules{Limits: f.limits, NewID: ident.New, Language: pastes.NewLanguageResolver(catalogue, catalogue),
		Diff: linediff.Unified}
	options := pastes.Options{Rules: rules, TokenRequired: !anonymous, SweepGrace: modules.SweepGrace}
	f.UseCases = pastes.New(m.PasteStore, m.UserStore, options, m.Clock)
	return f
}

// create creates a paste as the viewer.
func (f *fixture) create(t *testing.T, viewer token.Viewer, draft paste.Draft) paste.Document {
	t.Helper()
	created, err := f.CreateOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), draft)
	if err != nil {
		t.Fatal(err)
	}
	return created.Document
}

func (f *fixture) count(t *testing.T) int64 {
	t.Helper()
	n, err := f.CountActive.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// own returns the ids of the viewer's pastes.
func (f *fixture) own(t *testing.T, viewer token.Viewer) (ids []string) {
	t.Helper()
	err := f.ListOwn.Do(t.Context(), viewer, func(page []paste.ID) error {
		for _, id := range page {
			ids = append(ids, string(id))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestCreateOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	draft := paste.Draft{
		Title: "t", Private: true, Tags: []string{"b,a"}, Lifetime: new("1h"),
		Pasties: []paste.PastyDraft{{Title: "x", Language: new("golang"), Code: new("a\r\nb\x00")}, {Code: new("")}},
	}
	created := f.create(t, f.mia, draft)
	ids := []string{string(created.ID), created.Pasties[0].ID, created.Pasties[1].ID}
	want := paste.Document{
		Paste: paste.Paste{
			ID: created.ID, Owner: created.Owner, CreatedAt: f.Now.Truncate(time.Microsecond),
			ExpiresAt: f.Now.Truncate(time.Second).Add(time.Hour),
		},
		Content: paste.Content{
			Title: "t", Visibility: paste.Private, Tags: []string{"a", "b"}, Lifetime: "1h",
			Pasties: []paste.Pasty{
				{ID: ids[1], Title: "x", Language: "Go", Code: "a\r\nb\x00"}, {ID: ids[2], Language: "Plain Text"},
			},
		},
	}
	if !reflect.DeepEqual(created, want) {
		t.Errorf("got %+v, want %+v", created, want)
	}
	if got, err := f.Read.Do(t.Context(), f.mia, ids[0]); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, id := range ids {
		if len(id) != 8 || id[0] == '0' || ids[0] == ids[1] || ids[1] == ids[2] {
			t.Errorf("got the ids %q, want different ones of 8 characters", ids)
		}
	}
	if got := f.own(t, f.mia); !slices.Equal(got, ids[:1]) {
		t.Errorf("got %q as the owner's pastes, want %q", got, ids[0])
	}
	anonymous := f.create(t, visitor, modules.Draft("x"))
	if anonymous.Owner != "" || anonymous.Visibility != paste.Unlisted || f.count(t) != 2 {
		t.Errorf("got %+v and %d pastes, want an unlisted one of nobody, and 2", anonymous, f.count(t))
	}
	f.Now = f.Now.Truncate(time.Second).Add(time.Hour) // the instant of expiry
	if _, err := f.Read.Do(t.Context(), f.mia, ids[0]); !errors.Is(err, paste.ErrNotFound) || f.count(t) != 1 {
		t.Errorf("an expired paste: got %v and %d pastes, want ErrNotFound and 1", err, f.count(t))
	}
}

// TestCreateOwnRefuses checks that refused drafts are not stored, and that permission is checked before the draft.
func TestCreateOwnRefuses(t *testing.T) {
	t.Parallel()
	f, closed := newFixture(t, true), newFixture(t, false)
	broken := modules.Draft("\xff")
	for what, draft := range map[string]paste.Draft{
		"private": {Private: true, Pasties: modules.Draft("x").Pasties},
		"public":  {Public: true, Pasties: modules.Draft("x").Pasties},
		"tagged":  {Tags: []string{"x"}, Pasties: modules.Draft("x").Pasties}, "tagged and broken": {Tags: []string{"x"}},
	} {
		_, err := f.CreateOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), draft)
		modules.WantKind(t, what, err, fault.Unauthenticated)
		if !errors.Is(err, token.ErrRejected) {
			t.Errorf("%s: got %v, want token.ErrRejected", what, err)
		}
	}
	for what, viewer := range map[string]token.Viewer{"anonymous": visitor, "signed in": f.mia} {
		_, err := f.CreateOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), broken)
		modules.WantKind(t, what, err, fault.Invalid)
		if err := f.CreateOwn.Allow(viewer); err != nil {
			t.Errorf("%s: got %v, want it allowed", what, err)
		}
	}
	_, err := closed.CreateOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), modules.Draft("x"))
	modules.WantKind(t, "a token is required", err, fault.Unauthenticated)
	_, err = closed.CreateOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), broken)
	modules.WantKind(t, "a token is required, broken draft", err, fault.Unauthenticated)
	modules.WantKind(t, "a token is required, no draft", closed.CreateOwn.Allow(visitor), fault.Unauthenticated)
	if err := closed.CreateOwn.Allow(closed.mia); err != nil {
		t.Errorf("got %v, want it allowed with a token", err)
	}
	closed.create(t, closed.mia, modules.Draft("x"))
	if f.count(t) != 0 || closed.count(t) != 1 || f.CreateOwn.Count() != 0 || closed.CreateOwn.Count() != 1 {
		t.Errorf("got %d and %d pastes, want 0 and 1", f.count(t), closed.count(t))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, viewer := range map[string]token.Viewer{"anonymous": visitor, "signed in": f.mia} {
		_, err := f.CreateOwn.Do(ctx, audit.By(viewer, netip.Addr{}), modules.Draft("x"))
		modules.WantKind(t, what+", an outage", err, fault.Unavailable)
	}
}

// TestAnonymousQuota checks that a client's quota counts the pastes it creates as a visitor or makes anonymous, and
// nothing else.
func TestAnonymousQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	options := modules.PasteOptions
	options.AnonymousQuota = paste.Quota{Pastes: 2, Window: time.Hour}
	f.UseCases = pastes.New(f.PasteStore, f.UserStore, options, f.Clock)
	create := func(client netip.Addr, viewer token.Viewer, draft paste.Draft) (pastes.NewPaste, error) {
		return f.CreateOwn.Do(t.Context(), audit.By(viewer, client), draft)
	}
	one, two := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	if !f.CreateOwn.HasQuota() {
		t.Error("got no quota, want one")
	}
	for range options.AnonymousQuota.Pastes {
		created, err := create(one, visitor, modules.Draft("x"))
		if err != nil || created.ID == "" || created.Owner != "" {
			t.Errorf("got %+v, error %v, want an anonymous paste", created, err)
		}
	}
	_, err := create(one, visitor, modules.Draft("x"))
	quotaErr, ok := errors.AsType[*paste.QuotaError](err)
	if !ok || !fault.Is(err, fault.Exhausted) || quotaErr.Retry != 30*time.Minute {
		t.Errorf("got %v, want a QuotaError with a retry in half an hour", err)
	}
	_, err = create(one, visitor, modules.Draft("\xff"))
	modules.WantKind(t, "a broken draft", err, fault.Invalid)
	owned, err := create(one, f.mia, modules.Draft("x"))
	if err != nil {
		t.Errorf("signed in: got %v, want no error", err)
	}
	_, err = f.AnonymizeOwn.Do(t.Context(), audit.By(f.mia, one), string(owned.ID))
	modules.WantKind(t, "to make a paste anonymous", err, fault.Exhausted)
	if _, err := f.Create.Do(t.Context(), audit.Operator(), "", modules.Draft("x")); err != nil {
		t.Errorf("an operator: got %v, want no error", err)
	}
	if _, err := create(two, visitor, modules.Draft("x")); err != nil {
		t.Errorf("another client: got %v, want no error", err)
	}
	if f.count(t) != 5 || f.CreateOwn.Count() != 4 {
		t.Errorf("got %d pastes, %d by visitors, want 5 and 4", f.count(t), f.CreateOwn.Count())
	}
	f.Now = f.Now.Add(30 * time.Minute)
	if _, err := create(one, visitor, modules.Draft("x")); err != nil {
		t.Errorf("half an hour later: got %v, want one more", err)
	}
	_, err = create(one, visitor, modules.Draft("x"))
	modules.WantKind(t, "and no more than that", err, fault.Exhausted)
	f.Now = f.Now.Add(time.Hour)
	if _, err := f.Sweep.Do(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := f.PasteStore.ForgetClients(t.Context(), 10); err != nil || n != 0 {
		t.Errorf("got %d clients after the sweep, error %v, want none", n, err)
	}
}

// TestLifetimes checks that lifetimes are bounded for users and visitors, not for operators, and that the created paste
// has the bounded one.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	options := modules.PasteOptions
	options.Lifetimes = paste.Lifetimes{Default: "1d", Longest: "1y"}
	options.AnonymousLifetimes = paste.Lifetimes{Default: "1h", Longest: "1w"}
	f.UseCases = pastes.New(f.PasteStore, f.UserStore, options, f.Clock)
	for _, c := range []struct {
		viewer   token.Viewer
		lifetime *string
		want     paste.Lifetime
	}{
		{f.mia, nil, "1d"}, {f.mia, new("never"), "1y"}, {f.mia, new("2h"), "2h"},
		{visitor, nil, "1h"}, {visitor, new("never"), "1w"}, {visitor, new("1y"), "1w"}, {visitor, new("1d"), "1d"},
	} {
		draft := modules.Draft("x")
		draft.Lifetime = c.lifetime
		created := f.create(t, c.viewer, draft)
		if created.ExpiresIn() != c.want || !created.ExpiresAt.Equal(c.want.End(created.CreatedAt)) {
			t.Errorf("got %s, until %v, want %s", created.ExpiresIn(), created.ExpiresAt, c.want)
		}
	}
	if created, err := f.Create.Do(t.Context(), audit.Operator(), "", modules.Draft("x")); err != nil ||
		created.ExpiresIn() != paste.Never {
		t.Errorf("an operator: got %s, %v, want never", created.ExpiresIn(), err)
	}
	draft := modules.Draft("x")
	draft.Lifetime = new("soon")
	_, err := f.CreateOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), draft)
	modules.WantKind(t, "no lifetime", err, fault.Invalid)
}

// TestAllowance checks that creating and editing are bounded for users, not for operators.
func TestAllowance(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	options := modules.PasteOptions
	options.Allowance = paste.Allowance{Pastes: 2, Bytes: 200,
		Rate: paste.Quota{Pastes: 3, Window: time.Hour, Signed: true}}
	f.UseCases = pastes.New(f.PasteStore, f.UserStore, options, f.Clock)
	first := f.create(t, f.mia, modules.Draft("one"))
	second := f.create(t, f.mia, modules.Draft("two"))
	_, err := f.CreateOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), modules.Draft("three"))
	if !fault.Is(err, fault.Forbidden) || !errors.Is(err, paste.ErrAllowance) {
		t.Errorf("a third: got %v, want ErrAllowance", err)
	}
	f.create(t, f.noa, modules.Draft("another user's"))
	f.create(t, visitor, modules.Draft("anonymous"))
	encrypted := paste.Draft{Cipher: &paste.Cipher{Version: paste.CipherVersion, Data: make([]byte, 200)}}
	if _, err := f.CreateOwn.Do(t.Context(), audit.By(f.noa, netip.Addr{}), encrypted); !errors.Is(err,
		paste.ErrAllowance) {
		t.Errorf("an encrypted one that is too large: got %v, want ErrAllowance", err)
	}
	edit := func(code string) error {
		pasties := []paste.PastyChanges{{ID: first.Pasties[0].ID, Code: &code}}
		_, err := f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(first.ID), paste.Changes{Pasties: pasties})
		return err
	}
	if err := edit(strings.Repeat("x", 200)); !errors.Is(err, paste.ErrAllowance) {
		t.Errorf("an edit that grows too much: got %v, want ErrAllowance", err)
	}
	if err := edit("1"); err != nil {
		t.Errorf("an edit: got %v, want no error", err)
	}
	if err := f.DeleteOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(second.ID), ""); err != nil {
		t.Fatal(err)
	}
	f.create(t, f.mia, modules.Draft("three"))
	if err := f.DeleteOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(first.ID), ""); err != nil {
		t.Fatal(err)
	}
	_, err = f.CreateOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), modules.Draft("a fourth in this hour"))
	if quotaErr, ok := errors.AsType[*paste.QuotaError](err); !ok || !quotaErr.Quota.Signed ||
		quotaErr.Retry != 20*time.Minute {
		t.Errorf("got %v, want a QuotaError with a retry in 20 minutes", err)
	}
	admin := f.mia
	admin.User.Admin = true
	large := f.create(t, admin, modules.Draft(strings.Repeat("x", 300)))
	larger := strings.Repeat("y", 400)
	pasties := []paste.PastyChanges{{ID: large.Pasties[0].ID, Code: &larger}}
	if _, err := f.EditOwn.Do(t.Context(), audit.By(admin, netip.Addr{}), string(large.ID),
		paste.Changes{Pasties: pasties}); err != nil {
		t.Errorf("an administrator: got %v, want no error", err)
	}
	if _, err := f.Create.Do(t.Context(), audit.Operator(), "mia", modules.Draft(strings.Repeat("x", 300))); err != nil {
		t.Errorf("an operator: got %v, want no error", err)
	}
}

// TestRoom checks the limit on the bytes of all pastes: those counted last, and those stored since.
func TestRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	options := modules.PasteOptions
	options.MaxBytes = 100
	f.UseCases = pastes.New(f.PasteStore, f.UserStore, options, f.Clock)
	f.SizeLimit.SetUsed(97)
	created := f.create(t, f.mia, modules.Draft("one"))
	_, err := f.CreateOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), modules.Draft("two"))
	modules.WantKind(t, "full", err, fault.Unavailable)
	title := "longer"
	_, err = f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(created.ID), paste.Changes{Title: &title})
	modules.WantKind(t, "an edit that adds", err, fault.Unavailable)
	_, err = f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(created.ID), paste.Changes{})
	if err != nil {
		t.Errorf("an edit that changes nothing: got %v, want no error", err)
	}
	if _, err := f.Read.Do(t.Context(), visitor, string(created.ID)); err != nil {
		t.Errorf("reading: got %v, want no error", err)
	}
	if err := f.DeleteOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(created.ID), ""); err != nil {
		t.Errorf("deleting: got %v, want no error", err)
	}
	f.SizeLimit.SetUsed(50)
	f.create(t, visitor, modules.Draft("two"))
}

func TestCreateByOperator(t *testing.T) {
	t.Parallel()
	f := newFixture(t, false)
	private := paste.Draft{Private: true, Lifetime: new("1y"), Pasties: modules.Draft("x").Pasties}
	created, err := f.Create.Do(t.Context(), audit.Operator(), "MIA", private)
	if err != nil || created.Lifetime != "1y" || created.ExpiresAt.IsZero() {
		t.Errorf("got %+v, %v, want a paste for a year", created, err)
	}
	if ids := f.own(t, f.mia); !slices.Equal(ids, []string{string(created.ID)}) {
		t.Errorf("got %q as the owner's pastes, want %q", ids, created.ID)
	}
	created, err = f.Create.Do(t.Context(), audit.Operator(), "", modules.Draft("x"))
	if err != nil || created.Owner != "" || created.Lifetime != paste.Never {
		t.Errorf("got %+v, %v, want a paste of nobody that never expires", created, err)
	}
	for what, c := range map[string]struct {
		owner string
		draft paste.Draft
		want  fault.Kind
	}{
		"nobody":             {"nobody", private, fault.NotFound},
		"an impossible name": {"-", private, fault.Invalid},
		"a broken draft":     {"mia", paste.Draft{}, fault.Invalid},
		"private of nobody":  {"", private, fault.Unauthenticated},
	} {
		_, err := f.Create.Do(t.Context(), audit.Operator(), c.owner, c.draft)
		modules.WantKind(t, what, err, c.want)
	}
	if f.count(t) != 2 {
		t.Errorf("got %d pastes, want 2", f.count(t))
	}
}

// hiddenIDs returns ids that visitors may not read, by the reason.
func (f *fixture) hiddenIDs(t *testing.T) map[string]string {
	t.Helper()
	encrypted := paste.Document{Paste: paste.Paste{ID: "sealed00", CreatedAt: f.Now},
		Content: paste.Content{Cipher: new(paste.Cipher)}}
	if err := f.PasteStore.CreateDocument(t.Context(), encrypted); err != nil {
		t.Fatal(err)
	}
	expired := modules.Draft("x")
	expired.Lifetime = new("1h")
	private := modules.Draft("x")
	private.Private = true
	ids := map[string]string{
		"expired": string(f.create(t, visitor, expired).ID), "private": string(f.create(t, f.mia, private).ID),
		"encrypted": "sealed00",
		"unknown":   "unknown0", "malformed": "a b", "empty": "", "not UTF-8": "\xff",
		"another case": strings.ToUpper(string(f.create(t, visitor, modules.Draft("x")).ID)),
	}
	f.Now = f.Now.Add(time.Hour)
	return ids
}

func TestRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	hidden := f.hiddenIDs(t)
	open := map[string]paste.Document{}
	for what, visibility := range map[string]paste.Visibility{"public": paste.Public, "unlisted": paste.Unlisted} {
		draft := modules.Draft("code")
		draft.Public, draft.Tags = visibility == paste.Public, []string{"tag"}
		open[what] = f.create(t, f.mia, draft)
	}
	for how, viewer := range map[string]token.Viewer{"a visitor": visitor, "another user": f.noa} {
		for what, id := range hidden {
			_, err := f.Read.Do(t.Context(), viewer, id)
			_, raw := f.Read.Raw(t.Context(), viewer, id, "any", "")
			if !errors.Is(err, paste.ErrNotFound) || !errors.Is(raw, paste.ErrNotFound) {
				t.Errorf("%s paste, %s: got %v and %v, want ErrNotFound", what, how, err, raw)
			}
		}
		for what, document := range open {
			got, err := f.Read.Do(t.Context(), viewer, string(document.ID))
			want := document
			want.Tags = nil
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s paste, %s: got %+v, %v, want %+v", what, how, got, err, want)
			}
		}
	}
	for what, document := range open {
		if got, err := f.Read.Do(t.Context(), f.mia, string(document.ID)); err != nil || !reflect.DeepEqual(got, document) {
			t.Errorf("%s paste, its owner: got %+v, %v, want %+v", what, got, err, document)
		}
	}
	public := open["public"]
	pasty, err := f.Read.Raw(t.Context(), visitor, string(public.ID), public.Pasties[0].ID, "")
	if err != nil || pasty.Code != "code" {
		t.Errorf("got %+v, %v, want its code", pasty, err)
	}
	two := modules.Draft("first")
	two.Pasties = append(two.Pasties, modules.Draft("second").Pasties...)
	pasty, err = f.Read.Raw(t.Context(), visitor, string(f.create(t, visitor, two).ID), "", "")
	if err != nil || pasty.Code != "first" {
		t.Errorf("got %+v, %v, want the first pasty if none is named", pasty, err)
	}
	bare := paste.Document{Paste: paste.Paste{ID: "nothing0", CreatedAt: f.Now}} // of an import
	if err := f.PasteStore.CreateDocument(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read.Raw(t.Context(), visitor, "nothing0", "", ""); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("a paste without pasties: got %v, want ErrNotFound", err)
	}
	if _, err := f.Read.Do(t.Context(), f.mia, hidden["private"]); err != nil {
		t.Errorf("the owner's private paste: got %v, want no error", err)
	}
	if _, err := f.Read.Do(t.Context(), f.mia, hidden["encrypted"]); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("an encrypted paste: got %v, want ErrNotFound", err)
	}
	_, err = f.Read.Raw(t.Context(), visitor, string(public.ID), open["unlisted"].Pasties[0].ID, "")
	if !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("another paste's pasty: got %v, want ErrNotFound", err)
	}
	private, err := f.Show.Do(t.Context(), audit.Operator(), hidden["private"])
	if err != nil || private.Visibility != paste.Private {
		t.Errorf("an operator: got %+v, %v, want the private paste", private, err)
	}
	if got, err := f.Show.Do(t.Context(), audit.Operator(), hidden["encrypted"]); err != nil || !got.Encrypted() {
		t.Errorf("an operator: got %+v, %v, want the encrypted paste", got, err)
	}
	if _, err := f.Show.Do(t.Context(), audit.Operator(), hidden["expired"]); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("an operator, an expired paste: got %v, want ErrNotFound", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, viewer := range []token.Viewer{visitor, f.mia} {
		_, err := f.Read.Do(ctx, viewer, string(public.ID))
		modules.WantKind(t, "an outage", err, fault.Unavailable)
	}
}

func TestEditOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	created := f.create(t, f.mia, modules.Draft("1\n2\n3\n"))
	f.Now = f.Now.Add(time.Hour)
	pasty := created.Pasties[0].ID
	changes := paste.Changes{Title: new("new"), Pasties: []paste.PastyChanges{{ID: pasty, Code: new("1\n3\n")}}}
	got, err := f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(created.ID), changes)
	if err != nil || len(got.Edits) != 2 {
		t.Fatalf("got %+v, %v, want two edits", got, err)
	}
	want := created
	want.Title, want.Pasties = "new", []paste.Pasty{{ID: pasty, Language: "Plain Text", Code: "1\n3\n"}}
	at := f.Now.Truncate(time.Second)
	want.Edits = []paste.Edit{
		{ID: got.Edits[0].ID, Type: paste.EditTitle, At: at},
		{ID: got.Edits[1].ID, Type: paste.EditPastyCode, Metadata: []string{pasty},
			Text: "--- \n+++ \n@@ -1,3 +1,2 @@\n 1\n-2\n 3\n", At: at},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for who, viewer := range map[string]token.Viewer{"the owner": f.mia, "anybody": visitor} {
		if got, err := f.Read.Do(t.Context(), viewer, string(created.ID)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", who, got, err, want)
		}
	}
	again, err := f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(created.ID), paste.Changes{})
	if err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("got %+v, %v, want %+v", again, err, want)
	}
	if ids := []string{got.Edits[0].ID, got.Edits[1].ID}; len(ids[0]) != 8 || ids[0] == ids[1] {
		t.Errorf("got the ids %q, want different ones of 8 characters", ids)
	}
}

// TestEditAndDeleteOwnRefuse checks that the errors come in the order 401, 404, 400, and that nothing changes.
func TestEditAndDeleteOwnRefuse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	hidden := f.hiddenIDs(t)
	draft := modules.Draft("x")
	draft.Public, draft.Title = true, "as it is"
	mine, anonymous := f.create(t, f.mia, draft), f.create(t, visitor, modules.Draft("x"))
	before := f.count(t)
	good, bad := paste.Changes{Title: new("changed")}, paste.Changes{Title: new("\xff")}
	cause := fault.New(fault.Invalid, "not JSON")
	for _, id := range []string{string(mine.ID), string(anonymous.ID), hidden["unknown"], hidden["malformed"]} {
		for _, changes := range []paste.Changes{good, bad} {
			_, err := f.EditOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), id, changes)
			modules.WantKind(t, "a visitor", err, fault.Unauthenticated)
		}
		modules.WantKind(t, "a visitor without changes", f.EditOwn.Refuse(t.Context(), audit.By(visitor, netip.Addr{}), id,
			cause),
			fault.Unauthenticated)
		modules.WantKind(t, "a visitor who deletes", f.DeleteOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), id, ""),
			fault.Unauthenticated)
	}
	hidden["somebody else's"], hidden["anonymous"] = string(mine.ID), string(anonymous.ID)
	for what, id := range hidden {
		for _, changes := range []paste.Changes{good, bad} {
			if _, err := f.EditOwn.Do(t.Context(), audit.By(f.noa, netip.Addr{}), id, changes); !errors.Is(err,
				paste.ErrNotFound) {
				t.Errorf("%s paste: got %v, want ErrNotFound", what, err)
			}
		}
		if err := f.EditOwn.Refuse(t.Context(), audit.By(f.noa, netip.Addr{}), id, cause); !errors.Is(err,
			paste.ErrNotFound) {
			t.Errorf("%s paste: got %v, want ErrNotFound", what, err)
		}
		if err := f.DeleteOwn.Do(t.Context(), audit.By(f.noa, netip.Addr{}), id, ""); !errors.Is(err, paste.ErrNotFound) {
			t.Errorf("%s paste: got %v, want ErrNotFound", what, err)
		}
	}
	_, err := f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(mine.ID), bad)
	modules.WantKind(t, "a broken title", err, fault.Invalid)
	if err := f.EditOwn.Refuse(t.Context(), audit.By(f.mia, netip.Addr{}),
		string(mine.ID), cause); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.EditOwn.Do(ctx, audit.By(f.mia, netip.Addr{}), string(mine.ID), good)
	modules.WantKind(t, "an outage", err, fault.Unavailable)
	modules.WantKind(t, "an outage", f.DeleteOwn.Do(ctx, audit.By(f.mia, netip.Addr{}), string(mine.ID), ""),
		fault.Unavailable)
	if got, err := f.Read.Do(t.Context(), f.mia, string(mine.ID)); err != nil || !reflect.DeepEqual(got, mine) ||
		f.count(t) != before {
		t.Errorf("got %+v, %v and %d pastes, want %+v and %d", got, err, f.count(t), mine, before)
	}
}

// TestDeleteByKey deletes an anonymous paste by its key, for any viewer, and no other paste.
func TestDeleteByKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	create := func(viewer token.Viewer) pastes.NewPaste {
		created, err := f.CreateOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), modules.Draft("x"))
		signedIn := viewer.SignedIn()
		if err != nil || (created.Key == "") != signedIn || created.Key.Fits(created.DeleteKey) == signedIn {
			t.Fatalf("got %v with the hash %x, %v, want a key if nobody has signed in",
				created.Key != "", created.DeleteKey, err)
		}
		text := fmt.Sprintf("%v %+v %#v %s", created, created, created.Key, created.Key)
		if created.Key != "" && strings.Contains(text, string(created.Key)) {
			t.Errorf("got %s, want it without the key", text)
		}
		return created
	}
	mine, first, second := create(f.mia), create(visitor), create(visitor)
	for _, viewer := range []token.Viewer{visitor, f.mia} {
		for _, wrong := range []paste.DeleteKey{second.Key, "x", first.Key + "x", first.Key[1:], "\x00"} {
			modules.WantKind(t, "a wrong key", f.DeleteOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), string(first.ID),
				wrong),
				fault.Unauthenticated)
		}
	}
	for _, id := range []string{string(mine.ID), "unknown1", "\x00"} {
		modules.WantKind(t, "no such key", f.DeleteOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), id, first.Key),
			fault.NotFound)
	}
	if f.count(t) != 3 {
		t.Fatalf("got %d pastes, want 3", f.count(t))
	}
	for viewer, created := range map[*token.Viewer]pastes.NewPaste{{}: first, &f.mia: second} {
		if err := f.DeleteOwn.Do(t.Context(), audit.By(*viewer, netip.Addr{}), string(created.ID), created.Key); err != nil {
			t.Error(err)
		}
		modules.WantKind(t, "again", f.DeleteOwn.Do(t.Context(), audit.By(*viewer, netip.Addr{}), string(created.ID),
			created.Key),
			fault.NotFound)
	}
}

func TestDeleteOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	created := f.create(t, f.mia, modules.Draft("x"))
	encrypted := paste.Document{Content: paste.Content{Cipher: new(paste.Cipher)}}
	encrypted.Paste = paste.Paste{ID: "sealed00", Owner: created.Owner, CreatedAt: f.Now}
	if err := f.PasteStore.CreateDocument(t.Context(), encrypted); err != nil {
		t.Fatal(err)
	}
	for i, id := range []paste.ID{created.ID, "sealed00"} {
		if err := f.DeleteOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(id), ""); err != nil ||
			f.count(t) != int64(1-i) {
			t.Errorf("%s: got %v and %d pastes, want no error and %d", id, err, f.count(t), 1-i)
		}
		if err := f.DeleteOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(id), ""); !errors.Is(err,
			paste.ErrNotFound) {
			t.Errorf("%s, again: got %v, want ErrNotFound", id, err)
		}
		if _, err := f.Show.Do(t.Context(), audit.Operator(), string(id)); !errors.Is(err, paste.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", id, err)
		}
	}
}

func TestEditByOperator(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	hidden := f.hiddenIDs(t)
	for _, viewer := range []token.Viewer{f.mia, visitor} {
		created := f.create(t, viewer, modules.Draft("x"))
		got, err := f.Edit.Do(t.Context(), audit.Operator(), string(created.ID), pastes.EditInput{Title: new("t")})
		if err != nil || got.Title != "t" || got.Owner != created.Owner || len(got.Edits) != 1 ||
			!reflect.DeepEqual(got.Pasties, created.Pasties) {
			t.Errorf("got %+v, %v, want the new title alone", got, err)
		}
	}
	for what, kind := range map[string]fault.Kind{
		"unknown": fault.NotFound, "expired": fault.NotFound, "malformed": fault.NotFound, "encrypted": fault.Invalid,
	} {
		_, err := f.Edit.Do(t.Context(), audit.Operator(), hidden[what], pastes.EditInput{Title: new("t")})
		modules.WantKind(t, what, err, kind)
	}
}

// TestEditPastiesByOperator checks that an edit changes only what it names.
func TestEditPastiesByOperator(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	created := f.create(t, f.mia, paste.Draft{Tags: []string{"a"}, Pasties: []paste.PastyDraft{
		{Title: "one", Code: new("1")}, {Title: "two", Code: new("2")}, {Title: "three", Code: new("3")},
	}})
	one, two, three := created.Pasties[0].ID, created.Pasties[1].ID, created.Pasties[2].ID
	got, err := f.Edit.Do(t.Context(), audit.Operator(), string(created.ID), pastes.EditInput{
		Visibility: new(paste.Private), Tags: []string{"c,b"}, Remove: []string{one},
		Pasties: []paste.PastyChanges{{Title: new("four"), Code: new("4")}, {ID: three, Language: new("golang")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []paste.Pasty{
		{ID: two, Title: "two", Language: "Plain Text", Code: "2"}, {ID: three, Title: "three", Language: "Go", Code: "3"},
		{ID: got.Pasties[len(got.Pasties)-1].ID, Title: "four", Language: "Plain Text", Code: "4"},
	}
	if !reflect.DeepEqual(got.Pasties, want) || got.Visibility != paste.Private ||
		!slices.Equal(got.Tags, []string{"b", "c"}) {
		t.Errorf("got %+v, want the pasties %+v", got.Content, want)
	}
	nobodys := f.create(t, visitor, modules.Draft("x"))
	for what, broken := range map[string]struct {
		paste paste.Document
		input pastes.EditInput
	}{
		"an unknown pasty": {created,
			pastes.EditInput{Pasties: []paste.PastyChanges{{ID: "unknown", Code: new("")}}}},
		"an unknown pasty to remove": {created, pastes.EditInput{Remove: []string{one}}},
		"the same pasty twice":       {created, pastes.EditInput{Pasties: []paste.PastyChanges{{ID: two}, {ID: two}}}},
		"a pasty changed and removed": {created, pastes.EditInput{Remove: []string{two},
			Pasties: []paste.PastyChanges{{ID: two}}}},
		"all pasties removed":     {nobodys, pastes.EditInput{Remove: []string{nobodys.Pasties[0].ID}}},
		"a private one of nobody": {nobodys, pastes.EditInput{Visibility: new(paste.Private)}},
		"a tagged one of nobody":  {nobodys, pastes.EditInput{Tags: []string{"a"}}},
		"too long a tag":          {created, pastes.EditInput{Tags: []string{strings.Repeat("a", paste.MaxTagLength+1)}}},
	} {
		_, err := f.Edit.Do(t.Context(), audit.Operator(), string(broken.paste.ID), broken.input)
		modules.WantKind(t, what, err, fault.Invalid)
	}
	after, err := f.Show.Do(t.Context(), audit.Operator(), string(created.ID))
	if err != nil || !reflect.DeepEqual(after, got) {
		t.Errorf("got %+v, %v, want %+v as before", after, err, got)
	}
	unlisted := pastes.EditInput{Visibility: new(paste.Unlisted), Tags: []string{}}
	if _, err := f.Edit.Do(t.Context(), audit.Operator(), string(nobodys.ID), unlisted); err != nil {
		t.Errorf("nobody's, unlisted and without tags: got %v, want no error", err)
	}
}

// TestConcurrentEdits edits one paste from several goroutines. Each edit gets its place in the history.
func TestConcurrentEdits(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	created := f.create(t, f.mia, modules.Draft("0\n"))
	const callers = 100
	errs := make([]error, callers)
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			changes := paste.Changes{Pasties: []paste.PastyChanges{{ID: created.Pasties[0].ID}, {Code: new(fmt.Sprint(i))}}}
			current, err := f.Read.Do(t.Context(), f.mia, string(created.ID))
			for _, p := range current.Pasties[1:] {
				changes.Pasties = append(changes.Pasties, paste.PastyChanges{ID: p.ID})
			}
			if err == nil {
				_, err = f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(created.ID), changes)
			}
			errs[i] = err
		})
	}
	running.Wait()
	got, err := f.Read.Do(t.Context(), f.mia, string(created.ID))
	if err != nil {
		t.Fatal(err)
	}
	accepted, added := 0, 0
	for _, err := range errs {
		if err == nil {
			accepted++
		} else if !fault.Is(err, fault.Invalid) { // another goroutine has removed a pasty
			t.Error(err)
		}
	}
	numbers := map[int64]bool{}
	for _, e := range got.Edits {
		numbers[e.Number] = true
		if e.Type == paste.EditPastyAdded {
			added++
		}
	}
	if accepted == 0 || added != accepted || len(numbers) != accepted {
		t.Errorf("got %d pasties added by %d edits, want %d of each", added, len(numbers), accepted)
	}
	for c := got.Content; len(c.Edits) > 0; {
		if c, err = before(c); err != nil {
			t.Fatal(err)
		}
		if len(c.Edits) == 0 && (len(c.Pasties) != 1 || c.Pasties[0] != created.Pasties[0]) {
			t.Errorf("got %+v at the beginning, want %+v", c, created.Content)
		}
	}
}

// before returns the content before its newest edit, or the content itself if it has none.
func before(c paste.Content) (paste.Content, error) {
	if len(c.Edits) == 0 {
		return c, nil
	}
	older := paste.Original
	for _, e := range c.Edits {
		if e.Number != c.Edits[len(c.Edits)-1].Number {
			older = fmt.Sprint(e.Number)
		}
	}
	return c.AsOf(older)
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	draft := modules.Draft("first\n")
	draft.Private = true
	created := f.create(t, f.mia, draft)
	id, pasty := string(created.ID), created.Pasties[0].ID
	changes := paste.Changes{Title: new("new"), Pasties: []paste.PastyChanges{{Title: new("added"), Code: new("x")}}}
	if _, err := f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), id, changes); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read.Raw(t.Context(), f.mia, id, pasty, paste.Original); err != nil || got.Code != "first\n" {
		t.Errorf("got %+v, %v, want the first code", got, err)
	}
	if _, err := f.Read.Raw(t.Context(), f.mia, id, pasty, "0"); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("a removed pasty: got %v, want ErrNotFound", err)
	}
	for _, viewer := range []token.Viewer{visitor, f.noa} {
		if _, err := f.Read.Revision(t.Context(), viewer, id, paste.Original); !errors.Is(err, paste.ErrNotFound) {
			t.Errorf("another user's private paste: got %v, want ErrNotFound", err)
		}
		if _, err := f.EditOwn.Restore(t.Context(), audit.By(viewer, netip.Addr{}), id, paste.Original); err == nil {
			t.Error("another user: got no error of restoring, want one")
		}
	}
	_, err := f.EditOwn.Restore(t.Context(), audit.By(f.mia, netip.Addr{}), id, "5")
	modules.WantKind(t, "an edit that is not there", err, fault.NotFound)
	got, err := f.EditOwn.Restore(t.Context(), audit.By(f.mia, netip.Addr{}), id, paste.Original)
	if err != nil || got.Title != created.Title || len(got.Pasties) != 1 || got.Pasties[0].Code != "first\n" ||
		got.Visibility != paste.Private || got.Edits[len(got.Edits)-1].Number != 1 {
		t.Errorf("got %+v, %v, want the first content as another edit", got, err)
	}
	draft = modules.Draft("secret")
	draft.Burns = true
	burning := f.create(t, f.mia, draft)
	if _, err := f.Read.Revision(t.Context(), f.mia, string(burning.ID), paste.Original); !errors.Is(err,
		paste.ErrNotFound) {
		t.Errorf("a paste that burns: got %v, want ErrNotFound", err)
	}
	_, err = f.EditOwn.Restore(t.Context(), audit.By(f.mia, netip.Addr{}), string(burning.ID), paste.Original)
	if !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("a paste that burns: got %v, want ErrNotFound", err)
	}
}

// TestHistoryOfRealDiffs edits longer texts with the real Differ, and walks back through all versions.
func TestHistoryOfRealDiffs(t *testing.T) {
	t.Parallel()
	f, random := newFixture(t, true), rand.New(rand.NewPCG(7, 8))
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = []string{"}\n", "\n", "\x00\n", "-- \n", fmt.Sprintln("line", i),
			strings.Repeat("long ", 2000) + "\n"}[random.IntN(6)]
	}
	created := f.create(t, f.mia, modules.Draft(strings.Join(lines, "")))
	versions := []string{created.Pasties[0].Code}
	for len(versions) < 60 {
		for range random.IntN(5) {
			at := random.IntN(len(lines) + 1)
			lines = slices.Replace(lines, at, min(len(lines), at+random.IntN(4)),
				[]string{"new\n", "}\n", "\n"}[:random.IntN(3)]...)
		}
		code := strings.TrimSuffix(strings.Join(lines, ""), []string{"", "\n"}[random.IntN(2)])
		if len(versions)%20 == 0 {
			code = ""
		}
		if code == versions[len(versions)-1] {
			continue
		}
		changes := paste.Changes{Pasties: []paste.PastyChanges{{ID: created.Pasties[0].ID, Code: &code}}}
		if _, err := f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(created.ID), changes); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, code)
	}
	current, err := f.Show.Do(t.Context(), audit.Operator(), string(created.ID))
	if err != nil {
		t.Fatal(err)
	}
	content := current.Content
	for i := len(versions) - 1; i > 0; i-- {
		if got := content.Pasties[0].Code; got != versions[i] || len(content.Edits) != i {
			t.Fatalf("version %d: got %.300q with %d edits, want %.300q", i, got, len(content.Edits), versions[i])
		}
		if content, err = before(content); err != nil {
			t.Fatal(err)
		}
	}
	if content.Pasties[0].Code != versions[0] {
		t.Errorf("got %.300q at the beginning, want %.300q", content.Pasties[0].Code, versions[0])
	}
}

// countedPages counts the pages of a list that are read, and can fail one.
type countedPages struct {
	paste.Store

	pages, fails int
	between      func(page int)
}

func (c *countedPages) ActiveIDs(ctx context.Context, owner user.ID,
	after paste.Cursor, limit int) ([]paste.ID, paste.Cursor, error) {
	if c.pages++; c.pages == c.fails {
		return nil, paste.Cursor{}, fault.New(fault.Unavailable, "x")
	}
	if c.between != nil {
		c.between(c.pages)
	}
	return c.Store.ActiveIDs(ctx, owner, after, limit)
}

// TestListOwnInPages lists more pastes than are read at once, while pastes are created and deleted.
func TestListOwnInPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	const most, atOnce = 40_000, 20_000
	id := func(i int) paste.ID { return paste.ID(fmt.Sprintf("p%05d", i)) }
	for i := range most {
		created := paste.Paste{ID: id(i), Owner: f.mia.User.ID, CreatedAt: f.Now.Add(-time.Duration(i/10) * time.Second)}
		if err := f.PasteStore.CreateDocument(t.Context(), paste.Document{Paste: created}); err != nil {
			t.Fatal(err)
		}
	}
	store := &countedPages{Store: f.PasteStore}
	list := pastes.New(store, f.UserStore, modules.PasteOptions, f.Clock).ListOwn
	readAll := func() (pages []int, ids map[paste.ID]bool, err error) {
		store.pages, ids = 0, make(map[paste.ID]bool)
		err = list.Do(t.Context(), f.mia, func(page []paste.ID) error {
			pages = append(pages, len(page))
			for _, id := range page {
				if ids[id] {
					t.Errorf("got %s twice, want it once", id)
				}
				ids[id] = true
			}
			return nil
		})
		return pages, ids, err
	}
	if pages, ids, err := readAll(); err != nil || !slices.Equal(pages, []int{atOnce, atOnce}) || len(ids) != most {
		t.Errorf("got pages of %v with %d pastes, error %v, want two of %d", pages, len(ids), err, atOnce)
	}
	store.between = func(page int) {
		if page == 2 {
			for _, deleted := range []paste.ID{id(1), id(atOnce - 1), id(most - 1)} { // the last one is on the next page
				if err := f.PasteStore.DeleteIf(t.Context(), auditlog.Entry{}, deleted, func(paste.Paste) error {
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
			f.create(t, f.mia, modules.Draft("newest"))
		}
	}
	if pages, ids, err := readAll(); err != nil || !slices.Equal(pages, []int{atOnce, atOnce - 1}) || len(ids) != most-1 ||
		ids[id(most-1)] {
		t.Errorf("got pages of %v with %d pastes, error %v, want one less in the second", pages, len(ids), err)
	}
	store.between, store.fails = nil, 2
	pages, _, err := readAll()
	if modules.WantKind(t, "the second page", err, fault.Unavailable); len(pages) != 1 {
		t.Errorf("got %d pages, want the first", len(pages))
	}
	store.fails, store.pages = 0, 0
	enough := errors.New("enough")
	if err := list.Do(t.Context(), f.mia, func([]paste.ID) error {
		return enough
	}); !errors.Is(err, enough) || store.pages != 1 {
		t.Errorf("got %v after %d pages, want the callback's error after one", err, store.pages)
	}
	never := func([]paste.ID) error {
		t.Error("got a page, want none")
		return nil
	}
	if err := list.Do(t.Context(), f.noa, never); err != nil {
		t.Error(err)
	}
	modules.WantKind(t, "a visitor", list.Do(t.Context(), visitor, never), fault.Unauthenticated)
}

// TestAnonymizeOwn checks that owners make pastes anonymous, with a key that deletes them, unless a token is required.
func TestAnonymizeOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	created := f.create(t, f.mia, paste.Draft{Pasties: []paste.PastyDraft{{Code: new("x")}}})
	_, err := f.AnonymizeOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), string(created.ID))
	modules.WantKind(t, "a visitor", err, fault.Unauthenticated)
	for _, id := range []string{"unknown0", "\xff", string(created.ID)} {
		if _, err := f.AnonymizeOwn.Do(t.Context(), audit.By(f.noa, netip.Addr{}), id); !errors.Is(err, paste.ErrNotFound) {
			t.Errorf("%q: got %v, want ErrNotFound", id, err)
		}
	}
	key, err := f.AnonymizeOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), string(created.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.DeleteOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), string(created.ID), key); err != nil {
		t.Errorf("got %v, want it deleted with its key", err)
	}
	closed := newFixture(t, false)
	own := closed.create(t, closed.mia, paste.Draft{Pasties: []paste.PastyDraft{{Code: new("x")}}})
	if _, err := closed.AnonymizeOwn.Do(t.Context(), audit.By(closed.mia, netip.Addr{}), string(own.ID)); !fault.Is(err,
		fault.Forbidden) {
		t.Errorf("without anonymous pastes: got %v, want fault.Forbidden", err)
	}
}

// TestBrowseOwn checks that the list has private pastes, but no encrypted ones.
func TestBrowseOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	for i := range pastes.PageSize + 1 {
		draft := modules.Draft("x")
		draft.Title, draft.Private = fmt.Sprint(i), i%2 == 0
		f.create(t, f.mia, draft)
		f.Now = f.Now.Add(time.Second)
	}
	encrypted := paste.Paste{ID: "sealed00", Owner: f.mia.User.ID, CreatedAt: f.Now}
	document := paste.Document{Paste: encrypted, Content: paste.Content{Cipher: new(paste.Cipher)}}
	if err := f.PasteStore.CreateDocument(t.Context(), document); err != nil {
		t.Fatal(err)
	}
	first, err := f.Browse.Own(t.Context(), f.mia, paste.Selection{})
	if err != nil || len(first.Pastes) != pastes.PageSize || !first.More ||
		first.Pastes[0].Title != fmt.Sprint(pastes.PageSize) {
		t.Fatalf("got %d pastes, more: %t, error %v, want a page of the newest, and more", len(first.Pastes), first.More, err)
	}
	rest, err := f.Browse.Own(t.Context(), f.mia, paste.Selection{}.Next(&first.Pastes[pastes.PageSize-1]))
	if err != nil || len(rest.Pastes) != 1 || rest.More || rest.Pastes[0].Title != "0" ||
		rest.Pastes[0].Visibility != paste.Private {
		t.Errorf("got %+v, error %v, want the oldest and no more", rest, err)
	}
	if nothing, err := f.Browse.Own(t.Context(), f.noa, paste.Selection{}); err != nil || len(nothing.Pastes) != 0 ||
		nothing.More {
		t.Errorf("got %+v, error %v, want none of another user's", nothing, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.Browse.Own(ctx, f.mia, paste.Selection{})
	modules.WantKind(t, "an outage", err, fault.Unavailable)
}

func TestLanguageOfPasty(t *testing.T) {
	t.Parallel()
	one, two, auto := &language.Language{Name: "One"}, &language.Language{Name: "Two"},
		&language.Language{Name: "Autodetect"}
	catalogue := modules.Languages{
		"name one": one, "name uno": one, "name two": two, "extension o": one, "extension O": two, "extension two": one,
		"name autodetect": auto, "name auto": auto,
	}
	catalogue["extension one"], catalogue["code two"], catalogue["code auto"] = one, two, auto
	resolve := pastes.NewLanguageResolver(catalogue, catalogue)
	for _, c := range []struct{ name, title, code, want string }{
		{"one", "", "", "One"}, {"uno", "", "", "One"}, {"two", "", "", "Two"}, {"o", "", "", "One"}, {".o", "", "", "One"},
		{"O", "", "", "Two"},
		{"one", "", "two", "One"},
		{"Autodetect", "a.one", "two", "One"}, {"AUTODETECT", "other", "two", "Two"}, {"autodetect", "", "", ""},
		{"Autodetect", "x", "auto", ""},
		{"unknown", "a.one", "two", ""}, {"", "a.one", "", ""}, {"auto", "a.one", "", ""}, {".", "", "", ""},
	} {
		if got, ok := resolve(c.name, c.title, c.code); got != c.want || ok != (c.want != "") {
			t.Errorf("%q, %q, %q: got %q, %v, want %q", c.name, c.title, c.code, got, ok, c.want)
		}
	}
}

// TestOpen checks that only the first other reader gets a paste that burns. Its owner can read and edit it before.
func TestOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	draft := modules.Draft("secret")
	draft.Burns, draft.Tags = true, []string{"tag"}
	created := f.create(t, f.mia, draft)
	id := string(created.ID)
	if got, err := f.Read.Do(t.Context(), f.mia, id); err != nil || !got.Burns {
		t.Errorf("its owner: got %+v, %v, want it", got, err)
	}
	title := "edited"
	if _, err := f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), id, paste.Changes{Title: &title}); err != nil {
		t.Error(err)
	}
	public := true
	_, err := f.EditOwn.Do(t.Context(), audit.By(f.mia, netip.Addr{}), id, paste.Changes{Public: &public})
	modules.WantKind(t, "to make it public", err, fault.Invalid)
	for what, viewer := range map[string]token.Viewer{"a visitor": visitor, "a stranger": f.noa} {
		if _, err := f.Read.Do(t.Context(), viewer, id); !errors.Is(err, paste.ErrBurns) ||
			fault.MessageOf(err) != paste.ErrNotFound.Message {
			t.Errorf("%s: got %v, want the message of an unknown paste", what, err)
		}
		_, err = f.EditOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), id, paste.Changes{Title: &title})
		if err == nil {
			t.Errorf("%s: got no error of an edit, want one", what)
		}
	}
	if n, own := f.count(t), f.own(t, f.mia); n != 1 || !slices.Equal(own, []string{id}) {
		t.Errorf("got %d pastes, %q, want it to be counted and listed", n, own)
	}
	got, err := f.Open.Do(t.Context(), audit.By(f.noa, netip.Addr{}), id)
	if err != nil || got.Title != "edited" || got.Pasties[0].Code != "secret" || len(got.Tags) != 0 {
		t.Errorf("got %+v, %v, want it as a stranger sees it", got, err)
	}
	for what, viewer := range map[string]token.Viewer{"a visitor": visitor, "its owner": f.mia} {
		_, err := f.Open.Do(t.Context(), audit.By(viewer, netip.Addr{}), id)
		modules.WantKind(t, what, err, fault.NotFound)
		_, err = f.Read.Do(t.Context(), viewer, id)
		modules.WantKind(t, what, err, fault.NotFound)
	}
	for _, id := range []string{"", "\x00", "a/b", string(f.create(t, f.mia, modules.Draft("stays")).ID)} {
		_, err := f.Open.Do(t.Context(), audit.By(f.mia, netip.Addr{}), id)
		modules.WantKind(t, id, err, fault.NotFound)
	}
}
