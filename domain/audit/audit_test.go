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

// TestActors holds what each kind of actor may be taken for. The zero Actor is taken for none.
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
			for taken, pair := range map[string]struct {
				err  error
				want fault.Kind
			}{
				"anyone": {c.actor.Check(), c.any}, "a viewer": {viewer, c.viewer}, "a writer": {writer, c.writer},
				"a user": {signed, c.signed}, "the operator": {c.actor.CheckOperator(), c.operator},
			} {
				if fault.KindOf(pair.err) != pair.want || pair.err == nil != (pair.want == allowed) {
					t.Errorf("as %s: got %v, want %v", taken, pair.err, pair.want)
				}
			}
		})
	}
}

// TestVisitorIsRejected wants a visitor to be asked to sign in, as everywhere else.
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
		administrator bool // whether the store looks for one
	}{
		"administrator": {admin, "Epoxy", true},
		"visitor":       {audit.By(token.Viewer{}, netip.Addr{}), "", true},
		"nobody":        {audit.Actor{}, "", true},
		"operator":      {audit.Operator(), "operator", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := c.actor.Entry("paste.remove", "id", "spam"), c.actor.Entry("paste.remove", "id", "spam")
			if one.Actor != c.want || one.Act != "paste.remove" || one.Target != "id" || one.Reason != "spam" {
				t.Errorf("got %+v, want the act of %q", one, c.want)
			}
			if (one.Administrator != "") != c.administrator || ident.Valid(one.Administrator) != (c.want == "Epoxy") {
				t.Errorf("got the administrator %q, want an id: %t, of a user only if there is one", one.Administrator,
					c.administrator)
			}
			if own := c.actor.OwnEntry("token.issue", "id", ""); own.Actor != c.want || own.Administrator != "" {
				t.Errorf("got %+v, want an act of %q that needs no administrator", own, c.want)
			}
			if one.ID == "" || one.ID == other.ID {
				t.Errorf("got the ids %q and %q, want two", one.ID, other.ID)
			}
		})
	}
}
