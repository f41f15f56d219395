package contract

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// administrator stores an administrator, and returns the actor.
func administrator(t *testing.T, s ModerationStore, name string) audit.Actor {
	t.Helper()
	created := newAdministrator(t, name)
	must(t, s.createUser(t.Context(), created, nil))
	return audit.By(token.Viewer{User: created}, nowhere)
}

func setUser(t *testing.T, s ModerationStore, id user.ID, change func(*user.User)) {
	t.Helper()
	_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, id, func(u *user.User, _ map[string]string) error {
		change(u)
		return nil
	})
	must(t, err)
}

// recordedWrites makes each write that takes an entry, and returns the errors.
func recordedWrites(t *testing.T, s ModerationStore, entry func() auditlog.Entry) map[string]error {
	t.Helper()
	ctx, unique := t.Context(), ident.New()
	owner := storedUser(t, s.Store, unique).ID
	goes := storedUser(t, s.Store, ident.New())
	created := func() paste.ID { return spam(t, s, ID(ident.New()), owner, now, "code").ID }
	removed, gone := created(), created()
	for _, id := range []paste.ID{removed, gone} {
		must(t, s.Moderation.Remove(ctx, unrecorded, id, "spam"))
	}
	reported := created()
	report := moderation.Report{ID: unique, Paste: reported, Reason: "spam", At: now}
	must(t, s.Moderation.Report(ctx, nowhere, report, "", "client", paste.Quota{}))
	network, err := moderation.ParseNetwork("192.0.2.0/24")
	must(t, err)
	must(t, s.Moderation.Block(ctx, unrecorded, moderation.Block{Network: network, Reason: "spam", CreatedAt: now}))
	other, err := moderation.ParseNetwork("198.51.100.0/24")
	must(t, err)
	invited := newInvitation(t, s.Store, "a"+unique, 1, later)
	invitation := identity.Invitation{
		ID: identity.InvitationID(unique), Hash: identity.HashOf("b" + unique), Uses: 1, CreatedAt: now, ExpiresAt: later,
	}
	link := newLink(t, s.Store, "c"+unique, owner, later)
	offered := identity.OneTimeLink{Hash: identity.HashOf("d" + unique), Owner: owner, ExpiresAt: later}
	access := token.Token{ID: token.ID(unique), Owner: owner, Hash: token.Generate().Hash(), CreatedAt: now}

	errs := map[string]error{
		"delete a user": s.Users.Delete(ctx, nowhere, entry(), goes.ID, goes.Name, nil),
		"enroll": s.Identities.Enroll(ctx, nowhere, entry(), newUser(t, ident.New()),
			identity.Credentials{}, identity.Admission{}),
		"remove a paste":  s.Moderation.Remove(ctx, entry(), created(), "spam"),
		"restore a paste": s.Moderation.Restore(ctx, entry(), removed),
		"delete a paste":  s.Documents.DeleteIf(ctx, entry(), created(), func(paste.Paste) error { return nil }),
		"delete for good": s.Removed.DeleteRemoved(ctx, entry(), gone),
		"block a network": s.Moderation.Block(ctx, entry(),
			moderation.Block{Network: other, Reason: "spam", CreatedAt: now}),
		"end a block":      s.Moderation.Unblock(ctx, entry(), network),
		"close a report":   s.Moderation.CloseReport(ctx, entry(), unique),
		"invite":           s.Identities.StoreInvitation(ctx, entry(), invitation),
		"revoke an invite": s.Identities.RemoveInvitation(ctx, entry(), invited.ID),
		"offer a link":     s.Identities.StoreLink(ctx, entry(), offered),
		"issue a token":    s.Tokens.Create(ctx, nowhere, entry(), access),
	}
	_, _, errs["update a user"] = s.Users.Update(ctx, nowhere, entry(), owner,
		func(*user.User, map[string]string) error { return nil })
	_, errs["edit a paste"] = s.Documents.Update(ctx, entry(), created(), func(stored paste.Document) (paste.Change,
		error) {
		stored.Title += "!"
		return paste.Change{Document: stored, Changed: true}, nil
	})
	_, errs["end sessions"] = s.Tokens.EndSessions(ctx, nowhere, entry(), owner, "")
	_, errs["use a link"] = s.Identities.UseLink(ctx, nowhere, entry(), link, to("$a"))
	if errs["issue a token"] != nil {
		must(t, s.Tokens.Create(ctx, nowhere, unrecorded, access))
	}
	errs["revoke a token"] = s.Tokens.Revoke(ctx, nowhere, entry(), access.ID, now)
	return errs
}

// formerAdministrators wants each write for an administrator to be refused when its actor has lost that right since the
// use case checked it, or never had it.
func formerAdministrators(t *testing.T, s ModerationStore) {
	actor := administrator(t, s, "root")
	id := user.ID(actor.Entry("", "", "").Administrator)
	entry := func() auditlog.Entry { return actor.Entry("act", "target", "") }
	set := func(change func(*user.User)) func() { return func() { setUser(t, s, id, change) } }
	for _, step := range []struct {
		what   string
		before func()
		want   fault.Kind
	}{
		{"an administrator", func() {}, fault.None},
		{"one who is suspended", set(func(u *user.User) { u.Suspended = true }), fault.Forbidden},
		{"one who is an ordinary user", set(func(u *user.User) { u.Suspended, u.Admin = false, false }), fault.Forbidden},
		{"one who is an administrator again", set(func(u *user.User) { u.Admin = true }), fault.None},
		{"one who is deleted", func() {
			must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, id, parseName(t, "root"), nil))
		}, fault.Forbidden},
		{"a visitor", func() { actor = audit.By(token.Viewer{}, nowhere) }, fault.Forbidden},
	} {
		step.before()
		before := entriesOf(t, s)
		for what, err := range recordedWrites(t, s, entry) {
			if fault.KindOf(err) != step.want {
				t.Errorf("%s by %s: got %v, want %q", what, step.what, err, step.want)
			}
		}
		if recorded := entriesOf(t, s) > before; recorded != (step.want == fault.None) {
			t.Errorf("by %s: got entries in the audit log %v, want %v", step.what, recorded, !recorded)
		}
	}
}

// linksOfFormerAdministrators wants the links that an administrator has made to end with the administrator's rights:
// somebody who is about to lose them could keep one for the account of another administrator.
func linksOfFormerAdministrators(t *testing.T, s ModerationStore) {
	actor, owner := administrator(t, s, "root"), storedUser(t, s.Store, "owner")
	id := user.ID(actor.Entry("", "", "").Administrator)
	hash := identity.HashOf("code")
	link := identity.OneTimeLink{Hash: hash, Owner: owner.ID, ExpiresAt: later}
	must(t, s.Identities.StoreLink(t.Context(), actor.Entry("user.reset", "", ""), link))
	kept := newLink(t, s.Store, "of the operator", owner.ID, later)
	for what, lose := range map[string]func(*user.User){
		"suspended":        func(u *user.User) { u.Suspended = true },
		"an ordinary user": func(u *user.User) { u.Admin = false },
	} {
		setUser(t, s, id, lose)
		_, err := s.Identities.LinkByHash(t.Context(), hash)
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want no link", what, err)
		}
		wantNoLink(t, s.Store, hash)
		setUser(t, s, id, func(u *user.User) { u.Suspended, u.Admin = false, true })
		_, err = s.Identities.LinkByHash(t.Context(), hash)
		must(t, err)
	}
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, id, parseName(t, "root"), nil))
	wantNoLink(t, s.Store, hash)
	_, err := s.Identities.UseLink(t.Context(), nowhere, unrecorded, kept, to("$a"))
	must(t, err)
}

func entriesOf(t *testing.T, s ModerationStore) int {
	t.Helper()
	entries, err := s.Moderation.Entries(t.Context(), unrecorded, 1000)
	must(t, err)
	return len(entries)
}

// administratorsMeet has two administrators turn against each other at once, each several times. One of them stays.
func administratorsMeet(t *testing.T, s ModerationStore) {
	update := func(entry auditlog.Entry, id user.ID, change func(*user.User)) error {
		_, _, err := s.Users.Update(t.Context(), nowhere, entry, id, func(u *user.User, _ map[string]string) error {
			change(u)
			return nil
		})
		return err
	}
	for act, do := range map[string]func(entry auditlog.Entry, other user.User) error{
		"suspend": func(entry auditlog.Entry, other user.User) error {
			return update(entry, other.ID, func(u *user.User) { u.Suspended = true })
		},
		"unmake": func(entry auditlog.Entry, other user.User) error {
			return update(entry, other.ID, func(u *user.User) { u.Admin = false })
		},
		"delete": func(entry auditlog.Entry, other user.User) error {
			return s.Users.Delete(t.Context(), nowhere, entry, other.ID, other.Name, nil)
		},
	} {
		for round := range 5 {
			both := []user.User{
				newAdministrator(t, fmt.Sprint(act, round, "a")), newAdministrator(t, fmt.Sprint(act, round, "b")),
			}
			for _, one := range both {
				must(t, s.createUser(t.Context(), one, nil))
			}
			errs := meet(func(caller int) error {
				one, other := both[caller%2], both[1-caller%2]
				return do(audit.By(token.Viewer{User: one}, nowhere).Entry(act, other.NameAndID(), ""), other)
			})
			var refused [2]int
			for caller, err := range errs {
				if errors.Is(err, auditlog.ErrAdministrator) {
					refused[caller%2]++
				} else if err != nil && !fault.Is(err, fault.NotFound) { // the winner deletes the other one once
					t.Fatal(err)
				}
			}
			counts := slices.Sorted(slices.Values(refused[:]))
			if !slices.Equal(counts, []int{0, callers / 2}) {
				t.Errorf("%s: got %v refusals, want all of one administrator and none of the other", act, refused)
			}
			active := 0
			for _, one := range both {
				found, err := s.Users.ByID(t.Context(), one.ID)
				if err == nil && found.Admin && !found.Suspended {
					active++
				}
			}
			want(t, "administrators after they "+act+" each other", active, 1)
		}
	}
}
