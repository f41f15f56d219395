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

// desk is the modules with pastes whose languages are resolved, and two users who have signed in.
type desk struct {
	*modules.Modules
	*pastes.UseCases
	mia, noa token.Viewer
	limits   paste.Limits
}

// visitor is a viewer who has not signed in.
var visitor token.Viewer

func newDesk(t *testing.T, anonymous bool) *desk {
	t.Helper()
	m := modules.New()
	m.Now = m.Now.Add(123456789) // more than a store keeps
	d := &desk{Modules: m}
	for name, viewer := range map[string]*token.Viewer{"mia": &d.mia, "noa": &d.noa} {
		m.CreateUser(t, users.CreateInput{Name: name})
		*viewer = m.SignIn(t, name)
	}
	catalogue := modules.Languages{
		"name go": {Name: "Go"}, "name golang": {Name: "Go"}, "extension go": {Name: "Go"},
		"name Plain Text": {Name: "Plain Text"},
	}
	d.limits = paste.DefaultLimits()
	rules := paste.Rules{Limits: d.limits, NewID: ident.New, Language: pastes.NewLanguageResolver(catalogue, catalogue),
		Diff: linediff.Unified}
	options := pastes.Options{Rules: rules, TokenRequired: !anonymous, SweepGrace: modules.SweepGrace}
	d.UseCases = pastes.New(m.PasteStore, m.UserStore, options, m.Clock)
	return d
}

// create creates a paste of the viewer's.
func (d *desk) create(t *testing.T, viewer token.Viewer, draft paste.Draft) paste.Document {
	t.Helper()
	created, err := d.CreateOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), draft)
	if err != nil {
		t.Fatal(err)
	}
	return created.Document
}

func (d *desk) count(t *testing.T) int64 {
	t.Helper()
	n, err := d.CountActive.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// own returns the ids of the viewer's pastes.
func (d *desk) own(t *testing.T, viewer token.Viewer) (ids []string) {
	t.Helper()
	err := d.ListOwn.Do(t.Context(), viewer, func(page []paste.ID) error {
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
	d := newDesk(t, true)
	draft := paste.Draft{
		Title: "t", Private: true, Tags: []string{"b,a"}, Lifetime: new("1h"),
		Pasties: []paste.PastyDraft{{Title: "x", Language: new("golang"), Code: new("a\r\nb\x00")}, {Code: new("")}},
	}
	created := d.create(t, d.mia, draft)
	ids := []string{string(created.ID), created.Pasties[0].ID, created.Pasties[1].ID}
	want := paste.Document{
		Paste: paste.Paste{
			ID: created.ID, Owner: created.Owner, CreatedAt: d.Now.Truncate(time.Microsecond),
			ExpiresAt: d.Now.Truncate(time.Second).Add(time.Hour),
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
	if got, err := d.Read.Do(t.Context(), d.mia, ids[0]); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, id := range ids {
		if len(id) != 8 || id[0] == '0' || ids[0] == ids[1] || ids[1] == ids[2] {
			t.Errorf("got the ids %q", ids)
		}
	}
	if got := d.own(t, d.mia); !slices.Equal(got, ids[:1]) {
		t.Errorf("got %q as the owner's pastes, want %q", got, ids[0])
	}
	anonymous := d.create(t, visitor, modules.Draft("x"))
	if anonymous.Owner != "" || anonymous.Visibility != paste.Unlisted || d.count(t) != 2 {
		t.Errorf("got %+v and %d pastes", anonymous, d.count(t))
	}
	d.Now = d.Now.Truncate(time.Second).Add(time.Hour) // the instant of expiry
	if _, err := d.Read.Do(t.Context(), d.mia, ids[0]); !errors.Is(err, paste.ErrNotFound) || d.count(t) != 1 {
		t.Errorf("got %v of an expired paste, and %d pastes", err, d.count(t))
	}
}

// TestCreateOwnRefuses stores nothing; who may not create hears that before anything else.
func TestCreateOwnRefuses(t *testing.T) {
	t.Parallel()
	d, closed := newDesk(t, true), newDesk(t, false)
	broken := modules.Draft("\xff")
	for what, draft := range map[string]paste.Draft{
		"private": {Private: true, Pasties: modules.Draft("x").Pasties},
		"public":  {Public: true, Pasties: modules.Draft("x").Pasties},
		"tagged":  {Tags: []string{"x"}, Pasties: modules.Draft("x").Pasties}, "tagged and broken": {Tags: []string{"x"}},
	} {
		_, err := d.CreateOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), draft)
		modules.WantKind(t, what, err, fault.Unauthenticated)
		if !errors.Is(err, token.ErrRejected) {
			t.Errorf("%s: got %v, want the error of every token that is refused", what, err)
		}
	}
	for what, viewer := range map[string]token.Viewer{"anonymous": visitor, "signed in": d.mia} {
		_, err := d.CreateOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), broken)
		modules.WantKind(t, what, err, fault.Invalid)
		if err := d.CreateOwn.Allow(viewer); err != nil {
			t.Errorf("%s: got %v, want it allowed", what, err)
		}
	}
	_, err := closed.CreateOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), modules.Draft("x"))
	modules.WantKind(t, "a token is demanded", err, fault.Unauthenticated)
	_, err = closed.CreateOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), broken)
	modules.WantKind(t, "a token is demanded, broken draft", err, fault.Unauthenticated)
	modules.WantKind(t, "a token is demanded, no draft", closed.CreateOwn.Allow(visitor), fault.Unauthenticated)
	if err := closed.CreateOwn.Allow(closed.mia); err != nil {
		t.Errorf("got %v, want it allowed with a token", err)
	}
	closed.create(t, closed.mia, modules.Draft("x"))
	if d.count(t) != 0 || closed.count(t) != 1 || d.CreateOwn.Count() != 0 || closed.CreateOwn.Count() != 1 {
		t.Errorf("got %d and %d pastes, want 0 and 1", d.count(t), closed.count(t))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for what, viewer := range map[string]token.Viewer{"anonymous": visitor, "signed in": d.mia} {
		_, err := d.CreateOwn.Do(gone, audit.By(viewer, netip.Addr{}), modules.Draft("x"))
		modules.WantKind(t, what+", an outage", err, fault.Unavailable)
	}
}

// TestAnonymousQuota counts the pastes that each client stores without an owner or makes anonymous, and nothing else.
func TestAnonymousQuota(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	options := modules.PasteOptions
	options.AnonymousQuota = paste.Quota{Pastes: 2, Window: time.Hour}
	d.UseCases = pastes.New(d.PasteStore, d.UserStore, options, d.Clock)
	create := func(client netip.Addr, viewer token.Viewer, draft paste.Draft) (pastes.NewPaste, error) {
		return d.CreateOwn.Do(t.Context(), audit.By(viewer, client), draft)
	}
	one, two := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	if !d.CreateOwn.HasQuota() {
		t.Error("got no quota, want one")
	}
	for range options.AnonymousQuota.Pastes {
		created, err := create(one, visitor, modules.Draft("x"))
		if err != nil || created.ID == "" || created.Owner != "" {
			t.Errorf("got %+v, error %v, want an anonymous paste", created, err)
		}
	}
	_, err := create(one, visitor, modules.Draft("x"))
	refused, ok := errors.AsType[*paste.QuotaError](err)
	if !ok || !fault.Is(err, fault.Exhausted) || refused.Retry != 30*time.Minute {
		t.Errorf("got %v, want it refused for half an hour", err)
	}
	_, err = create(one, visitor, modules.Draft("\xff"))
	modules.WantKind(t, "a broken draft", err, fault.Invalid)
	owned, err := create(one, d.mia, modules.Draft("x"))
	if err != nil {
		t.Errorf("signed in: got %v, want it not counted", err)
	}
	_, err = d.AnonymizeOwn.Do(t.Context(), audit.By(d.mia, one), string(owned.ID))
	modules.WantKind(t, "to make a paste anonymous", err, fault.Exhausted)
	if _, err := d.Create.Do(t.Context(), audit.Operator(), "", modules.Draft("x")); err != nil {
		t.Errorf("an operator: got %v, want no error", err)
	}
	if _, err := create(two, visitor, modules.Draft("x")); err != nil {
		t.Errorf("another client: got %v, want no error", err)
	}
	if d.count(t) != 5 || d.CreateOwn.Count() != 4 {
		t.Errorf("got %d pastes, %d by visitors, want 5 and 4", d.count(t), d.CreateOwn.Count())
	}
	d.Now = d.Now.Add(30 * time.Minute)
	if _, err := create(one, visitor, modules.Draft("x")); err != nil {
		t.Errorf("half an hour later: got %v, want one more", err)
	}
	_, err = create(one, visitor, modules.Draft("x"))
	modules.WantKind(t, "and no more than that", err, fault.Exhausted)
	d.Now = d.Now.Add(time.Hour)
	if _, err := d.Sweep.Do(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := d.PasteStore.ForgetClients(t.Context(), 10); err != nil || left != 0 {
		t.Errorf("got %d clients that the sweep has left, error %v, want none", left, err)
	}
}

// TestLifetimes bounds those of users and visitors, not of operators; the answer says what has become of a wish.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	options := modules.PasteOptions
	options.Lifetimes = paste.Lifetimes{Default: "1d", Longest: "1y"}
	options.AnonymousLifetimes = paste.Lifetimes{Default: "1h", Longest: "1w"}
	d.UseCases = pastes.New(d.PasteStore, d.UserStore, options, d.Clock)
	for _, c := range []struct {
		viewer   token.Viewer
		lifetime *string
		want     paste.Lifetime
	}{
		{d.mia, nil, "1d"}, {d.mia, new("never"), "1y"}, {d.mia, new("2h"), "2h"},
		{visitor, nil, "1h"}, {visitor, new("never"), "1w"}, {visitor, new("1y"), "1w"}, {visitor, new("1d"), "1d"},
	} {
		draft := modules.Draft("x")
		draft.Lifetime = c.lifetime
		created := d.create(t, c.viewer, draft)
		if created.ExpiresIn() != c.want || !created.ExpiresAt.Equal(c.want.End(created.CreatedAt)) {
			t.Errorf("got %s, to %v, want %s", created.ExpiresIn(), created.ExpiresAt, c.want)
		}
	}
	if created, err := d.Create.Do(t.Context(), audit.Operator(), "", modules.Draft("x")); err != nil ||
		created.ExpiresIn() != paste.Never {
		t.Errorf("an operator: got %s, %v, want never", created.ExpiresIn(), err)
	}
	draft := modules.Draft("x")
	draft.Lifetime = new("soon")
	_, err := d.CreateOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), draft)
	modules.WantKind(t, "no lifetime", err, fault.Invalid)
}

// TestAllowance bounds what a user has, also by edits, and not what operators do.
func TestAllowance(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	options := modules.PasteOptions
	options.Allowance = paste.Allowance{Pastes: 2, Bytes: 200,
		Rate: paste.Quota{Pastes: 3, Window: time.Hour, Signed: true}}
	d.UseCases = pastes.New(d.PasteStore, d.UserStore, options, d.Clock)
	first := d.create(t, d.mia, modules.Draft("one"))
	second := d.create(t, d.mia, modules.Draft("two"))
	_, err := d.CreateOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), modules.Draft("three"))
	if !fault.Is(err, fault.Forbidden) || !errors.Is(err, paste.ErrAllowance) {
		t.Errorf("a third: got %v, want it refused", err)
	}
	d.create(t, d.noa, modules.Draft("another user's"))
	d.create(t, visitor, modules.Draft("anonymous"))
	encrypted := paste.Draft{Cipher: &paste.Cipher{Version: paste.CipherVersion, Data: make([]byte, 200)}}
	if _, err := d.CreateOwn.Do(t.Context(), audit.By(d.noa, netip.Addr{}), encrypted); !errors.Is(err,
		paste.ErrAllowance) {
		t.Errorf("an encrypted one that is too large: got %v, want it refused", err)
	}
	edit := func(code string) error {
		pasties := []paste.PastyChanges{{ID: first.Pasties[0].ID, Code: &code}}
		_, err := d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(first.ID), paste.Changes{Pasties: pasties})
		return err
	}
	if err := edit(strings.Repeat("x", 200)); !errors.Is(err, paste.ErrAllowance) {
		t.Errorf("an edit that grows too much: got %v, want it refused", err)
	}
	if err := edit("1"); err != nil {
		t.Errorf("an edit: got %v", err)
	}
	if err := d.DeleteOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(second.ID), ""); err != nil {
		t.Fatal(err)
	}
	d.create(t, d.mia, modules.Draft("three"))
	if err := d.DeleteOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(first.ID), ""); err != nil {
		t.Fatal(err)
	}
	_, err = d.CreateOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), modules.Draft("a fourth in this hour"))
	if refused, ok := errors.AsType[*paste.QuotaError](err); !ok || !refused.Quota.Signed ||
		refused.Retry != 20*time.Minute {
		t.Errorf("got %v, want to wait for 20 minutes", err)
	}
	admin := d.mia
	admin.User.Admin = true
	large := d.create(t, admin, modules.Draft(strings.Repeat("x", 300)))
	larger := strings.Repeat("y", 400)
	pasties := []paste.PastyChanges{{ID: large.Pasties[0].ID, Code: &larger}}
	if _, err := d.EditOwn.Do(t.Context(), audit.By(admin, netip.Addr{}), string(large.ID),
		paste.Changes{Pasties: pasties}); err != nil {
		t.Errorf("an administrator: got %v, want no error", err)
	}
	if _, err := d.Create.Do(t.Context(), audit.Operator(), "mia", modules.Draft(strings.Repeat("x", 300))); err != nil {
		t.Errorf("an operator: got %v, want no error", err)
	}
}

// TestRoom bounds what everybody has together: with what is counted, and what was stored since.
func TestRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	options := modules.PasteOptions
	options.MaxBytes = 100
	d.UseCases = pastes.New(d.PasteStore, d.UserStore, options, d.Clock)
	d.SizeLimit.SetUsed(97)
	created := d.create(t, d.mia, modules.Draft("one"))
	_, err := d.CreateOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), modules.Draft("two"))
	modules.WantKind(t, "full", err, fault.Unavailable)
	title := "longer"
	_, err = d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(created.ID), paste.Changes{Title: &title})
	modules.WantKind(t, "an edit that adds", err, fault.Unavailable)
	_, err = d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(created.ID), paste.Changes{})
	if err != nil {
		t.Errorf("an edit that changes nothing: got %v", err)
	}
	if _, err := d.Read.Do(t.Context(), visitor, string(created.ID)); err != nil {
		t.Errorf("reading: got %v", err)
	}
	if err := d.DeleteOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(created.ID), ""); err != nil {
		t.Errorf("deleting: got %v", err)
	}
	d.SizeLimit.SetUsed(50)
	d.create(t, visitor, modules.Draft("two"))
}

func TestCreateNamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	private := paste.Draft{Private: true, Lifetime: new("1y"), Pasties: modules.Draft("x").Pasties}
	created, err := d.Create.Do(t.Context(), audit.Operator(), "MIA", private)
	if err != nil || created.Lifetime != "1y" || created.ExpiresAt.IsZero() {
		t.Errorf("got %+v, %v", created, err)
	}
	if ids := d.own(t, d.mia); !slices.Equal(ids, []string{string(created.ID)}) {
		t.Errorf("got %q as the owner's pastes, want %q", ids, created.ID)
	}
	created, err = d.Create.Do(t.Context(), audit.Operator(), "", modules.Draft("x"))
	if err != nil || created.Owner != "" || created.Lifetime != paste.Never {
		t.Errorf("got %+v, %v", created, err)
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
		_, err := d.Create.Do(t.Context(), audit.Operator(), c.owner, c.draft)
		modules.WantKind(t, what, err, c.want)
	}
	if d.count(t) != 2 {
		t.Errorf("got %d pastes, want 2", d.count(t))
	}
}

// hidden are ids of pastes that only Mia may see, and the reasons.
func (d *desk) hidden(t *testing.T) map[string]string {
	t.Helper()
	encrypted := paste.Document{Paste: paste.Paste{ID: "sealed00", CreatedAt: d.Now},
		Content: paste.Content{Cipher: new(paste.Cipher)}}
	if err := d.PasteStore.CreateDocument(t.Context(), encrypted); err != nil {
		t.Fatal(err)
	}
	expired := modules.Draft("x")
	expired.Lifetime = new("1h")
	private := modules.Draft("x")
	private.Private = true
	ids := map[string]string{
		"expired": string(d.create(t, visitor, expired).ID), "private": string(d.create(t, d.mia, private).ID),
		"encrypted": "sealed00",
		"unknown":   "unknown0", "malformed": "a b", "empty": "", "not UTF-8": "\xff",
		"another case": strings.ToUpper(string(d.create(t, visitor, modules.Draft("x")).ID)),
	}
	d.Now = d.Now.Add(time.Hour)
	return ids
}

func TestRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	hidden := d.hidden(t)
	open := map[string]paste.Document{}
	for what, visibility := range map[string]paste.Visibility{"public": paste.Public, "unlisted": paste.Unlisted} {
		draft := modules.Draft("code")
		draft.Public, draft.Tags = visibility == paste.Public, []string{"tag"}
		open[what] = d.create(t, d.mia, draft)
	}
	for how, viewer := range map[string]token.Viewer{"a visitor": visitor, "another user": d.noa} {
		for what, id := range hidden {
			_, err := d.Read.Do(t.Context(), viewer, id)
			_, raw := d.Read.Raw(t.Context(), viewer, id, "any", "")
			if !errors.Is(err, paste.ErrNotFound) || !errors.Is(raw, paste.ErrNotFound) {
				t.Errorf("%s paste, %s: got %v and %v, want ErrNotFound", what, how, err, raw)
			}
		}
		for what, document := range open {
			got, err := d.Read.Do(t.Context(), viewer, string(document.ID))
			want := document
			want.Tags = nil
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s paste, %s: got %+v, %v, want %+v", what, how, got, err, want)
			}
		}
	}
	for what, document := range open {
		if got, err := d.Read.Do(t.Context(), d.mia, string(document.ID)); err != nil || !reflect.DeepEqual(got, document) {
			t.Errorf("%s paste, its owner: got %+v, %v, want %+v", what, got, err, document)
		}
	}
	public := open["public"]
	pasty, err := d.Read.Raw(t.Context(), visitor, string(public.ID), public.Pasties[0].ID, "")
	if err != nil || pasty.Code != "code" {
		t.Errorf("got %+v, %v", pasty, err)
	}
	two := modules.Draft("first")
	two.Pasties = append(two.Pasties, modules.Draft("second").Pasties...)
	pasty, err = d.Read.Raw(t.Context(), visitor, string(d.create(t, visitor, two).ID), "", "")
	if err != nil || pasty.Code != "first" {
		t.Errorf("got %+v, %v, want the first pasty where none is named", pasty, err)
	}
	bare := paste.Document{Paste: paste.Paste{ID: "nothing0", CreatedAt: d.Now}} // of an import
	if err := d.PasteStore.CreateDocument(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read.Raw(t.Context(), visitor, "nothing0", "", ""); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("got %v of a paste without pasties, want ErrNotFound", err)
	}
	if _, err := d.Read.Do(t.Context(), d.mia, hidden["private"]); err != nil {
		t.Errorf("got %v of the owner's private paste", err)
	}
	if _, err := d.Read.Do(t.Context(), d.mia, hidden["encrypted"]); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("got %v of an encrypted paste", err)
	}
	_, err = d.Read.Raw(t.Context(), visitor, string(public.ID), open["unlisted"].Pasties[0].ID, "")
	if !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("got %v of another paste's pasty", err)
	}
	private, err := d.Show.Do(t.Context(), audit.Operator(), hidden["private"])
	if err != nil || private.Visibility != paste.Private {
		t.Errorf("an operator: got %+v, %v", private, err)
	}
	if got, err := d.Show.Do(t.Context(), audit.Operator(), hidden["encrypted"]); err != nil || !got.Encrypted() {
		t.Errorf("an operator: got %+v, %v", got, err)
	}
	if _, err := d.Show.Do(t.Context(), audit.Operator(), hidden["expired"]); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("an operator: got %v of an expired paste", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, viewer := range []token.Viewer{visitor, d.mia} {
		_, err := d.Read.Do(gone, viewer, string(public.ID))
		modules.WantKind(t, "an outage", err, fault.Unavailable)
	}
}

func TestEditOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	created := d.create(t, d.mia, modules.Draft("1\n2\n3\n"))
	d.Now = d.Now.Add(time.Hour)
	pasty := created.Pasties[0].ID
	changes := paste.Changes{Title: new("new"), Pasties: []paste.PastyChanges{{ID: pasty, Code: new("1\n3\n")}}}
	got, err := d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(created.ID), changes)
	if err != nil || len(got.Edits) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	want := created
	want.Title, want.Pasties = "new", []paste.Pasty{{ID: pasty, Language: "Plain Text", Code: "1\n3\n"}}
	at := d.Now.Truncate(time.Second)
	want.Edits = []paste.Edit{
		{ID: got.Edits[0].ID, Type: paste.EditTitle, At: at},
		{ID: got.Edits[1].ID, Type: paste.EditPastyCode, Metadata: []string{pasty},
			Text: "--- \n+++ \n@@ -1,3 +1,2 @@\n 1\n-2\n 3\n", At: at},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for who, viewer := range map[string]token.Viewer{"the owner": d.mia, "anybody": visitor} {
		if got, err := d.Read.Do(t.Context(), viewer, string(created.ID)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", who, got, err, want)
		}
	}
	again, err := d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(created.ID), paste.Changes{})
	if err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("got %+v, %v, want %+v", again, err, want)
	}
	if ids := []string{got.Edits[0].ID, got.Edits[1].ID}; len(ids[0]) != 8 || ids[0] == ids[1] {
		t.Errorf("got the ids %q", ids)
	}
}

// TestEditAndDeleteOwnRefuse in the order 401, 404, 400, and change nothing.
func TestEditAndDeleteOwnRefuse(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	hidden := d.hidden(t)
	draft := modules.Draft("x")
	draft.Public, draft.Title = true, "as it is"
	mine, anonymous := d.create(t, d.mia, draft), d.create(t, visitor, modules.Draft("x"))
	before := d.count(t)
	good, bad := paste.Changes{Title: new("changed")}, paste.Changes{Title: new("\xff")}
	cause := fault.New(fault.Invalid, "not JSON")
	for _, id := range []string{string(mine.ID), string(anonymous.ID), hidden["unknown"], hidden["malformed"]} {
		for _, changes := range []paste.Changes{good, bad} {
			_, err := d.EditOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), id, changes)
			modules.WantKind(t, "a visitor", err, fault.Unauthenticated)
		}
		modules.WantKind(t, "a visitor without changes", d.EditOwn.Refuse(t.Context(), audit.By(visitor, netip.Addr{}), id,
			cause),
			fault.Unauthenticated)
		modules.WantKind(t, "a visitor who deletes", d.DeleteOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), id, ""),
			fault.Unauthenticated)
	}
	hidden["somebody else's"], hidden["anonymous"] = string(mine.ID), string(anonymous.ID)
	for what, id := range hidden {
		for _, changes := range []paste.Changes{good, bad} {
			if _, err := d.EditOwn.Do(t.Context(), audit.By(d.noa, netip.Addr{}), id, changes); !errors.Is(err,
				paste.ErrNotFound) {
				t.Errorf("%s paste: got %v, want ErrNotFound", what, err)
			}
		}
		if err := d.EditOwn.Refuse(t.Context(), audit.By(d.noa, netip.Addr{}), id, cause); !errors.Is(err,
			paste.ErrNotFound) {
			t.Errorf("%s paste: got %v, want ErrNotFound", what, err)
		}
		if err := d.DeleteOwn.Do(t.Context(), audit.By(d.noa, netip.Addr{}), id, ""); !errors.Is(err, paste.ErrNotFound) {
			t.Errorf("%s paste: got %v, want ErrNotFound", what, err)
		}
	}
	_, err := d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(mine.ID), bad)
	modules.WantKind(t, "a broken title", err, fault.Invalid)
	if err := d.EditOwn.Refuse(t.Context(), audit.By(d.mia, netip.Addr{}),
		string(mine.ID), cause); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.EditOwn.Do(gone, audit.By(d.mia, netip.Addr{}), string(mine.ID), good)
	modules.WantKind(t, "an outage", err, fault.Unavailable)
	modules.WantKind(t, "an outage", d.DeleteOwn.Do(gone, audit.By(d.mia, netip.Addr{}), string(mine.ID), ""),
		fault.Unavailable)
	if got, err := d.Read.Do(t.Context(), d.mia, string(mine.ID)); err != nil || !reflect.DeepEqual(got, mine) ||
		d.count(t) != before {
		t.Errorf("got %+v, %v and %d pastes, want %+v and %d", got, err, d.count(t), mine, before)
	}
}

// TestDeleteByKey deletes an anonymous paste by its key, for any viewer, and no other paste.
func TestDeleteByKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	create := func(viewer token.Viewer) pastes.NewPaste {
		created, err := d.CreateOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), modules.Draft("x"))
		signedIn := viewer.SignedIn()
		if err != nil || (created.Key == "") != signedIn || created.Key.Fits(created.DeleteKey) == signedIn {
			t.Fatalf("got %v with the hash %x, %v, want a key where nobody has signed in",
				created.Key != "", created.DeleteKey, err)
		}
		printed := fmt.Sprintf("%v %+v %#v %s", created, created, created.Key, created.Key)
		if created.Key != "" && strings.Contains(printed, string(created.Key)) {
			t.Errorf("got %s, want no key in it", printed)
		}
		return created
	}
	mine, first, second := create(d.mia), create(visitor), create(visitor)
	for _, viewer := range []token.Viewer{visitor, d.mia} {
		for _, wrong := range []paste.DeleteKey{second.Key, "x", first.Key + "x", first.Key[1:], "\x00"} {
			modules.WantKind(t, "a wrong key", d.DeleteOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), string(first.ID),
				wrong),
				fault.Unauthenticated)
		}
	}
	for _, id := range []string{string(mine.ID), "unknown1", "\x00"} {
		modules.WantKind(t, "no such key", d.DeleteOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), id, first.Key),
			fault.NotFound)
	}
	if d.count(t) != 3 {
		t.Fatalf("got %d pastes, want 3", d.count(t))
	}
	for viewer, created := range map[*token.Viewer]pastes.NewPaste{{}: first, &d.mia: second} {
		if err := d.DeleteOwn.Do(t.Context(), audit.By(*viewer, netip.Addr{}), string(created.ID), created.Key); err != nil {
			t.Error(err)
		}
		modules.WantKind(t, "again", d.DeleteOwn.Do(t.Context(), audit.By(*viewer, netip.Addr{}), string(created.ID),
			created.Key),
			fault.NotFound)
	}
}

func TestDeleteOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	created := d.create(t, d.mia, modules.Draft("x"))
	encrypted := paste.Document{Content: paste.Content{Cipher: new(paste.Cipher)}}
	encrypted.Paste = paste.Paste{ID: "sealed00", Owner: created.Owner, CreatedAt: d.Now}
	if err := d.PasteStore.CreateDocument(t.Context(), encrypted); err != nil {
		t.Fatal(err)
	}
	for i, id := range []paste.ID{created.ID, "sealed00"} {
		if err := d.DeleteOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(id), ""); err != nil ||
			d.count(t) != int64(1-i) {
			t.Errorf("%s: got %v and %d pastes", id, err, d.count(t))
		}
		if err := d.DeleteOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(id), ""); !errors.Is(err,
			paste.ErrNotFound) {
			t.Errorf("%s, again: got %v", id, err)
		}
		if _, err := d.Show.Do(t.Context(), audit.Operator(), string(id)); !errors.Is(err, paste.ErrNotFound) {
			t.Errorf("%s: got %v", id, err)
		}
	}
}

func TestEditByOperator(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	hidden := d.hidden(t)
	for _, viewer := range []token.Viewer{d.mia, visitor} {
		created := d.create(t, viewer, modules.Draft("x"))
		got, err := d.Edit.Do(t.Context(), audit.Operator(), string(created.ID), pastes.EditInput{Title: new("t")})
		if err != nil || got.Title != "t" || got.Owner != created.Owner || len(got.Edits) != 1 ||
			!reflect.DeepEqual(got.Pasties, created.Pasties) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	for what, kind := range map[string]fault.Kind{
		"unknown": fault.NotFound, "expired": fault.NotFound, "malformed": fault.NotFound, "encrypted": fault.Invalid,
	} {
		_, err := d.Edit.Do(t.Context(), audit.Operator(), hidden[what], pastes.EditInput{Title: new("t")})
		modules.WantKind(t, what, err, kind)
	}
}

// TestEditPastiesByOperator leaves alone what it does not name.
func TestEditPastiesByOperator(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	created := d.create(t, d.mia, paste.Draft{Tags: []string{"a"}, Pasties: []paste.PastyDraft{
		{Title: "one", Code: new("1")}, {Title: "two", Code: new("2")}, {Title: "three", Code: new("3")},
	}})
	one, two, three := created.Pasties[0].ID, created.Pasties[1].ID, created.Pasties[2].ID
	got, err := d.Edit.Do(t.Context(), audit.Operator(), string(created.ID), pastes.EditInput{
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
	nobodys := d.create(t, visitor, modules.Draft("x"))
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
		_, err := d.Edit.Do(t.Context(), audit.Operator(), string(broken.paste.ID), broken.input)
		modules.WantKind(t, what, err, fault.Invalid)
	}
	after, err := d.Show.Do(t.Context(), audit.Operator(), string(created.ID))
	if err != nil || !reflect.DeepEqual(after, got) {
		t.Errorf("got %+v, %v, want %+v as before", after, err, got)
	}
	unlisted := pastes.EditInput{Visibility: new(paste.Unlisted), Tags: []string{}}
	if _, err := d.Edit.Do(t.Context(), audit.Operator(), string(nobodys.ID), unlisted); err != nil {
		t.Errorf("nobody's, unlisted and without tags: %v", err)
	}
}

// TestEditsMeet has edits of one paste by several callers at once: each finds its place in the history.
func TestEditsMeet(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	created := d.create(t, d.mia, modules.Draft("0\n"))
	const callers = 100
	errs := make([]error, callers)
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			changes := paste.Changes{Pasties: []paste.PastyChanges{{ID: created.Pasties[0].ID}, {Code: new(fmt.Sprint(i))}}}
			current, err := d.Read.Do(t.Context(), d.mia, string(created.ID))
			for _, p := range current.Pasties[1:] {
				changes.Pasties = append(changes.Pasties, paste.PastyChanges{ID: p.ID})
			}
			if err == nil {
				_, err = d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(created.ID), changes)
			}
			errs[i] = err
		})
	}
	running.Wait()
	got, err := d.Read.Do(t.Context(), d.mia, string(created.ID))
	if err != nil {
		t.Fatal(err)
	}
	accepted, added := 0, 0
	for _, err := range errs {
		if err == nil {
			accepted++
		} else if !fault.Is(err, fault.Invalid) { // another caller has removed what was read
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
		t.Errorf("got %d edits with %d numbers that added a pasty, of %d that were accepted", added, len(numbers), accepted)
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

// before returns the content before its newest edit, or as it is when it has none.
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
	d := newDesk(t, true)
	draft := modules.Draft("first\n")
	draft.Private = true
	created := d.create(t, d.mia, draft)
	id, pasty := string(created.ID), created.Pasties[0].ID
	changes := paste.Changes{Title: new("new"), Pasties: []paste.PastyChanges{{Title: new("added"), Code: new("x")}}}
	if _, err := d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), id, changes); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Read.Raw(t.Context(), d.mia, id, pasty, paste.Original); err != nil || got.Code != "first\n" {
		t.Errorf("got %+v, %v, want the first code", got, err)
	}
	if _, err := d.Read.Raw(t.Context(), d.mia, id, pasty, "0"); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("got %v of a pasty that was removed, want ErrNotFound", err)
	}
	for _, viewer := range []token.Viewer{visitor, d.noa} {
		if _, err := d.Read.Revision(t.Context(), viewer, id, paste.Original); !errors.Is(err, paste.ErrNotFound) {
			t.Errorf("got %v of another user's private paste, want ErrNotFound", err)
		}
		if _, err := d.EditOwn.Restore(t.Context(), audit.By(viewer, netip.Addr{}), id, paste.Original); err == nil {
			t.Error("another user has restored a paste")
		}
	}
	_, err := d.EditOwn.Restore(t.Context(), audit.By(d.mia, netip.Addr{}), id, "5")
	modules.WantKind(t, "an edit that is not there", err, fault.NotFound)
	got, err := d.EditOwn.Restore(t.Context(), audit.By(d.mia, netip.Addr{}), id, paste.Original)
	if err != nil || got.Title != created.Title || len(got.Pasties) != 1 || got.Pasties[0].Code != "first\n" ||
		got.Visibility != paste.Private || got.Edits[len(got.Edits)-1].Number != 1 {
		t.Errorf("got %+v, %v, want the first content as another edit", got, err)
	}
	draft = modules.Draft("secret")
	draft.Burns = true
	burning := d.create(t, d.mia, draft)
	if _, err := d.Read.Revision(t.Context(), d.mia, string(burning.ID), paste.Original); !errors.Is(err,
		paste.ErrNotFound) {
		t.Errorf("got %v of a paste that burns, want ErrNotFound", err)
	}
	_, err = d.EditOwn.Restore(t.Context(), audit.By(d.mia, netip.Addr{}), string(burning.ID), paste.Original)
	if !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("got %v of a paste that burns, want ErrNotFound", err)
	}
}

// TestHistoryOfRealDiffs edits longer texts with the library that makes the diffs, and goes back through all versions.
func TestHistoryOfRealDiffs(t *testing.T) {
	t.Parallel()
	d, random := newDesk(t, true), rand.New(rand.NewPCG(7, 8))
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = []string{"}\n", "\n", "\x00\n", "-- \n", fmt.Sprintln("line", i),
			strings.Repeat("long ", 2000) + "\n"}[random.IntN(6)]
	}
	created := d.create(t, d.mia, modules.Draft(strings.Join(lines, "")))
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
		if _, err := d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(created.ID), changes); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, code)
	}
	current, err := d.Show.Do(t.Context(), audit.Operator(), string(created.ID))
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

// countedPages counts the pages that are read of a list, and can fail one.
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

// TestListOwnInPages has more pastes than are read at once. Some come and go meanwhile.
func TestListOwnInPages(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	const most, atOnce = 40_000, 20_000
	id := func(i int) paste.ID { return paste.ID(fmt.Sprintf("p%05d", i)) }
	for i := range most {
		created := paste.Paste{ID: id(i), Owner: d.mia.User.ID, CreatedAt: d.Now.Add(-time.Duration(i/10) * time.Second)}
		if err := d.PasteStore.CreateDocument(t.Context(), paste.Document{Paste: created}); err != nil {
			t.Fatal(err)
		}
	}
	store := &countedPages{Store: d.PasteStore}
	list := pastes.New(store, d.UserStore, modules.PasteOptions, d.Clock).ListOwn
	read := func() (pages []int, ids map[paste.ID]bool, err error) {
		store.pages, ids = 0, make(map[paste.ID]bool)
		err = list.Do(t.Context(), d.mia, func(page []paste.ID) error {
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
	if pages, ids, err := read(); err != nil || !slices.Equal(pages, []int{atOnce, atOnce}) || len(ids) != most {
		t.Errorf("got pages of %v with %d pastes, error %v, want two of %d", pages, len(ids), err, atOnce)
	}
	store.between = func(page int) {
		if page == 2 {
			for _, gone := range []paste.ID{id(1), id(atOnce - 1), id(most - 1)} { // one that comes last, one in the next page
				if err := d.PasteStore.DeleteIf(t.Context(), auditlog.Entry{}, gone, func(paste.Paste) error {
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
			d.create(t, d.mia, modules.Draft("newest"))
		}
	}
	if pages, ids, err := read(); err != nil || !slices.Equal(pages, []int{atOnce, atOnce - 1}) || len(ids) != most-1 ||
		ids[id(most-1)] {
		t.Errorf("got pages of %v with %d pastes, error %v, want one less in the second", pages, len(ids), err)
	}
	store.between, store.fails = nil, 2
	pages, _, err := read()
	if modules.WantKind(t, "the second page", err, fault.Unavailable); len(pages) != 1 {
		t.Errorf("got %d pages, want the first", len(pages))
	}
	store.fails, store.pages = 0, 0
	enough := errors.New("enough")
	if err := list.Do(t.Context(), d.mia, func([]paste.ID) error {
		return enough
	}); !errors.Is(err, enough) || store.pages != 1 {
		t.Errorf("got %v after %d pages, want the visitor's error after one", err, store.pages)
	}
	never := func([]paste.ID) error {
		t.Error("got a page, want none")
		return nil
	}
	if err := list.Do(t.Context(), d.noa, never); err != nil {
		t.Error(err)
	}
	modules.WantKind(t, "a visitor", list.Do(t.Context(), visitor, never), fault.Unauthenticated)
}

// TestGiveUpOwn makes one's own paste anonymous, which its key deletes, unless the installation has no such pastes.
func TestGiveUpOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	created := d.create(t, d.mia, paste.Draft{Pasties: []paste.PastyDraft{{Code: new("x")}}})
	_, err := d.AnonymizeOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), string(created.ID))
	modules.WantKind(t, "a visitor", err, fault.Unauthenticated)
	for _, id := range []string{"unknown0", "\xff", string(created.ID)} {
		if _, err := d.AnonymizeOwn.Do(t.Context(), audit.By(d.noa, netip.Addr{}), id); !errors.Is(err, paste.ErrNotFound) {
			t.Errorf("%q: got %v, want it not to be there", id, err)
		}
	}
	key, err := d.AnonymizeOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), string(created.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.DeleteOwn.Do(t.Context(), audit.By(visitor, netip.Addr{}), string(created.ID), key); err != nil {
		t.Errorf("got %v, want it deleted with its key", err)
	}
	closed := newDesk(t, false)
	own := closed.create(t, closed.mia, paste.Draft{Pasties: []paste.PastyDraft{{Code: new("x")}}})
	if _, err := closed.AnonymizeOwn.Do(t.Context(), audit.By(closed.mia, netip.Addr{}), string(own.ID)); !fault.Is(err,
		fault.Forbidden) {
		t.Errorf("got %v where there are no anonymous pastes, want it forbidden", err)
	}
}

// TestBrowseOwn pages through private pastes, too, and leaves encrypted ones out.
func TestBrowseOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	for i := range pastes.PageSize + 1 {
		draft := modules.Draft("x")
		draft.Title, draft.Private = fmt.Sprint(i), i%2 == 0
		d.create(t, d.mia, draft)
		d.Now = d.Now.Add(time.Second)
	}
	encrypted := paste.Paste{ID: "sealed00", Owner: d.mia.User.ID, CreatedAt: d.Now}
	stored := paste.Document{Paste: encrypted, Content: paste.Content{Cipher: new(paste.Cipher)}}
	if err := d.PasteStore.CreateDocument(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	first, err := d.Browse.Own(t.Context(), d.mia, paste.Selection{})
	if err != nil || len(first.Pastes) != pastes.PageSize || !first.More ||
		first.Pastes[0].Title != fmt.Sprint(pastes.PageSize) {
		t.Fatalf("got %d pastes, more: %t, error %v, want a page of the newest, and more", len(first.Pastes), first.More, err)
	}
	rest, err := d.Browse.Own(t.Context(), d.mia, paste.Selection{}.Next(&first.Pastes[pastes.PageSize-1]))
	if err != nil || len(rest.Pastes) != 1 || rest.More || rest.Pastes[0].Title != "0" ||
		rest.Pastes[0].Visibility != paste.Private {
		t.Errorf("got %+v, error %v, want the oldest and no more", rest, err)
	}
	if nothing, err := d.Browse.Own(t.Context(), d.noa, paste.Selection{}); err != nil || len(nothing.Pastes) != 0 ||
		nothing.More {
		t.Errorf("got %+v, error %v, want nothing of another user's", nothing, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.Browse.Own(gone, d.mia, paste.Selection{})
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

// TestOpen gives a paste that burns to one who has the link, after its owner has read and edited it.
func TestOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	draft := modules.Draft("secret")
	draft.Burns, draft.Tags = true, []string{"tag"}
	created := d.create(t, d.mia, draft)
	id := string(created.ID)
	if got, err := d.Read.Do(t.Context(), d.mia, id); err != nil || !got.Burns {
		t.Errorf("its owner: got %+v, %v, want it", got, err)
	}
	title := "edited"
	if _, err := d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), id, paste.Changes{Title: &title}); err != nil {
		t.Error(err)
	}
	public := true
	_, err := d.EditOwn.Do(t.Context(), audit.By(d.mia, netip.Addr{}), id, paste.Changes{Public: &public})
	modules.WantKind(t, "to make it public", err, fault.Invalid)
	for what, viewer := range map[string]token.Viewer{"a visitor": visitor, "a stranger": d.noa} {
		if _, err := d.Read.Do(t.Context(), viewer, id); !errors.Is(err, paste.ErrBurns) ||
			fault.MessageOf(err) != paste.ErrNotFound.Message {
			t.Errorf("%s: got %v, want to be told as of an unknown one", what, err)
		}
		_, err = d.EditOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), id, paste.Changes{Title: &title})
		if err == nil {
			t.Errorf("%s: got an edit", what)
		}
	}
	if n, own := d.count(t), d.own(t, d.mia); n != 1 || !slices.Equal(own, []string{id}) {
		t.Errorf("got %d pastes, %q, want it to be counted and listed", n, own)
	}
	opened, err := d.Open.Do(t.Context(), audit.By(d.noa, netip.Addr{}), id)
	if err != nil || opened.Title != "edited" || opened.Pasties[0].Code != "secret" || len(opened.Tags) != 0 {
		t.Errorf("got %+v, %v, want it as a stranger sees it", opened, err)
	}
	for what, viewer := range map[string]token.Viewer{"a visitor": visitor, "its owner": d.mia} {
		_, err := d.Open.Do(t.Context(), audit.By(viewer, netip.Addr{}), id)
		modules.WantKind(t, what, err, fault.NotFound)
		_, err = d.Read.Do(t.Context(), viewer, id)
		modules.WantKind(t, what, err, fault.NotFound)
	}
	for _, id := range []string{"", "\x00", "a/b", string(d.create(t, d.mia, modules.Draft("stays")).ID)} {
		_, err := d.Open.Do(t.Context(), audit.By(d.mia, netip.Addr{}), id)
		modules.WantKind(t, id, err, fault.NotFound)
	}
}
