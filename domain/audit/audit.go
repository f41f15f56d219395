// Package audit defines who acts.
package audit

import (
	"cmp"
	"net/netip"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Actor is who acts: a viewer (a user or a visitor), or the operator. The zero Actor may do nothing.
type Actor struct {
	role    role
	viewer  token.Viewer
	address netip.Addr
}

type role uint8

const (
	_ role = iota // the zero Actor
	viewer
	operator
)

// By returns an actor for a viewer and the address of the viewer's client. The zero Viewer is a visitor. The zero Addr
// is for a viewer who is not on the network; no block matches it.
func By(v token.Viewer, address netip.Addr) Actor {
	return Actor{viewer, v, address.WithZone("").Unmap()}
}

// Operator returns the actor for whoever runs the installation's commands, or for the program that embeds it.
func Operator() Actor { return Actor{role: operator} }

// Address returns the address of the viewer's client, or the zero Addr.
func (a Actor) Address() netip.Addr { return a.address }

// Is reports whether the actor is the user with that id.
func (a Actor) Is(id user.ID) bool { return a.viewer.SignedIn() && a.viewer.User.ID == id }

// IsOperator reports whether the actor is the operator.
func (a Actor) IsOperator() bool { return a.role == operator }

var (
	errUnknown = fault.New(fault.Forbidden,
		"No actor was given: pass audit.By with a viewer, or audit.Operator.")
	errNoViewer = fault.New(fault.Forbidden,
		"Only a user or a visitor can do this. The operator has other commands for it.")
	errOperator = fault.New(fault.Forbidden, "Only the operator may do this, with gluepot's commands.")
)

// Check returns a fault.Forbidden for the zero Actor.
func (a Actor) Check() error {
	if a.role == 0 {
		return errUnknown
	}
	return nil
}

// CheckOperator returns a fault.Forbidden unless the actor is the operator.
func (a Actor) CheckOperator() error {
	if err := a.Check(); err != nil {
		return err
	}
	if !a.IsOperator() {
		return errOperator
	}
	return nil
}

// CheckAdministrator returns an error unless the actor is the operator or an administrator, who may see every user's
// data. It fails with token.ErrRejected for a visitor, with token.ErrSuspended for a suspended user, and with
// fault.Forbidden for other users and the zero Actor.
func (a Actor) CheckAdministrator() error {
	if a.IsOperator() {
		return nil
	}
	v, err := a.Viewer()
	switch {
	case err != nil:
		return err
	case !v.SignedIn():
		return token.ErrRejected
	case v.User.Suspended:
		return token.ErrSuspended
	case !v.User.Admin:
		return auditlog.ErrAdministrator
	}
	return nil
}

// CheckAdministratorWrite is CheckAdministrator for changes. It also fails with fault.Forbidden when the
// administrator's token is read-only.
//
// It ignores the address: otherwise administrators could not lift a block of their own network.
func (a Actor) CheckAdministratorWrite() error {
	if err := a.CheckAdministrator(); err != nil {
		return err
	}
	return a.viewer.MayWrite()
}

// Viewer returns the user or visitor who acts. It fails with fault.Forbidden for the operator and the zero Actor.
func (a Actor) Viewer() (token.Viewer, error) {
	if err := a.Check(); err != nil {
		return token.Viewer{}, err
	}
	if a.IsOperator() {
		return token.Viewer{}, errNoViewer
	}
	return a.viewer, nil
}

// Writer is Viewer for changes. It also fails with fault.Forbidden when the viewer's token is read-only.
func (a Actor) Writer() (token.Viewer, error) {
	v, err := a.Viewer()
	if err == nil {
		err = v.MayWrite()
	}
	return v, err
}

// User is Writer for signed-in users. It also fails with token.ErrRejected for a visitor.
func (a Actor) User() (token.Viewer, error) {
	v, err := a.Writer()
	if err == nil && !v.SignedIn() {
		err = token.ErrRejected
	}
	return v, err
}

// Entry returns an audit log entry for an act that only the operator and administrators may do. The store checks again
// that the actor is an administrator, because another one may have ended that since.
func (a Actor) Entry(act, target, reason string) auditlog.Entry {
	entry := a.OwnEntry(act, target, reason)
	if !a.IsOperator() {
		entry.Administrator = cmp.Or(string(a.viewer.User.ID), nobody)
	}
	return entry
}

// nobody is the id of no user: a store that looks for an administrator of that id finds none.
const nobody = "(nobody)"

// OwnEntry returns an audit log entry for something that the actor does with what is the actor's own.
func (a Actor) OwnEntry(act, target, reason string) auditlog.Entry {
	name := a.viewer.User.Name.String()
	if a.IsOperator() {
		name = "operator"
	}
	return auditlog.Entry{ID: ident.New() + ident.New(), Actor: name, Act: act, Target: target, Reason: reason}
}
