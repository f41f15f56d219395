package audit_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// TestActors checks the roles in which each kind of actor may act. The zero Actor has none.
func TestActors(t *testing.T) {
	t.Parallel()
	signedIn := token.Viewer{User: user.User{ID: "epoxy"}}
	readOnly := signedIn
	readOnly.Token.Scope = token.Read
	const allowed, unauthenticated, forbidden = fault.None, fault.Unauthenticated, fault.Forbidden
	for name, c := range map[string]struct {
		actor                                 audit.Actor
		any, viewer, writer, signed, operator fault.Kind
	}{
		"nobody":   {audit.Actor{}, forbidden, forbidden, forbidden, forbidden, forbidden},
		"visitor":  {audit.By(token.Viewer{}, netip.Addr{}), allowed, allowed, allowed, unauthenticated, forbidden},
		"user":     {audit.By(signedIn, netip.Addr{}), allowed, allowed, allowed, allowed, forbidden},
		"reader":   {audit.By(readOnly, netip.Addr{}), allowed, allowed, forbidden, forbidden, forbidden},
		"operator": {audit.Operator(), allowed, forbidden, forbidden, forbidden, allowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, viewer := c.actor.Viewer()
			_, writer := c.actor.Writer()
			_, signed := c.actor.User()
			for role, pair := range map[string]struct {
				err  error
				want fault.Kind
			}{
				"anyone": {c.actor.Check(), c.any}, "a viewer": {viewer, c.viewer}, "a writer": {writer, c.writer},
				"a user": {signed, c.signed}, "the operator": {c.actor.CheckOperator(), c.operator},
			} {
				if fault.KindOf(pair.err) != pair.want || pair.err == nil != (pair.want == allowed) {
					t.Errorf("as %s: got %v, want %v", role, pair.err, pair.want)
				}
			}
		})
	}
}

// TestVisitorIsRejected checks that a visitor is asked to sign in, as everywhere else.
func TestVisitorIsRejected(t *testing.T) {
	t.Parallel()
	if _, err := audit.By(token.Viewer{}, netip.Addr{}).User(); !errors.Is(err, token.ErrRejected) {
		t.Errorf("got %v, want token.ErrRejected", err)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8::1%eth0": "2001:db8::1",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got := audit.By(token.Viewer{}, netip.MustParseAddr(text)).Address()
			if got.String() != want {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
}

func TestEntry(t *testing.T) {
	t.Parallel()
	name, err := user.ParseName("Epoxy")
	if err != nil {
		t.Fatal(err)
	}
	admin := audit.By(token.Viewer{User: user.User{ID: "1", Name: name}}, netip.Addr{})
	for name, c := range map[string]struct {
		actor         audit.Actor
		want          string
		administrator bool // whether the store must find one
	}{
		"administrator": {admin, "Epoxy", true},
		"visitor":       {audit.By(token.Viewer{}, netip.Addr{}), "", true},
		"nobody":        {audit.Actor{}, "", true},
		"operator":      {audit.Operator(), "operator", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := c.actor.Entry("paste.remove", "id", "spam"), c.actor.Entry("paste.remove", "id", "spam")
			if first.Actor != c.want || first.Act != "paste.remove" || first.Target != "id" || first.Reason != "spam" {
				t.Errorf("got %+v, want paste.remove of id by %q, because of spam", first, c.want)
			}
			if (first.Administrator != "") != c.administrator || ident.Valid(first.Administrator) != (c.want == "Epoxy") {
				t.Errorf("got the administrator %q, want one: %t, a valid id only of a user", first.Administrator,
					c.administrator)
			}
			if own := c.actor.OwnEntry("token.issue", "id", ""); own.Actor != c.want || own.Administrator != "" {
				t.Errorf("got %+v, want %q to act, and no administrator", own, c.want)
			}
			if first.ID == "" || first.ID == second.ID {
				t.Errorf("got the ids %q and %q, want two different ones", first.ID, second.ID)
			}
		})
	}
}
