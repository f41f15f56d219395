// Package audit is about what operators and administrators have done.
package audit

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/user"
)

// Operator is the actor of commands.
const Operator = "operator"

// Entry is one act. It has no content of pastes.
type Entry struct {
	ID     string
	At     time.Time
	Actor  string // the name of a user, or Operator
	Act    string // such as "paste.remove"
	Target string // what it was done to
	Reason string
}

type (
	actorKey struct{}
	entryKey struct{}
)

// As returns a context whose acts are recorded as those of the user with that name.
func As(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// IsBy reports whether acts are recorded as those of the user with that name.
func IsBy(ctx context.Context, actor string) bool { return ctx.Value(actorKey{}) == actor }

// Note returns a context with which a store records the act in the transaction that does it. It is for one transaction.
func Note(ctx context.Context, act, target, reason string) context.Context {
	actor, ok := ctx.Value(actorKey{}).(string)
	if !ok {
		actor = Operator
	}
	entry := Entry{ID: ident.New() + ident.New(), Actor: actor, Act: act, Target: target, Reason: reason}
	return context.WithValue(ctx, entryKey{}, entry)
}

// Unnoted returns a context without the entry of Note.
func Unnoted(ctx context.Context) context.Context { return context.WithValue(ctx, entryKey{}, nil) }

// User returns the target that is a user.
func User(u user.User) string { return u.Name.String() + " (" + string(u.ID) + ")" }

// Noted returns the entry that Note put into the context. The store sets its At.
func Noted(ctx context.Context) (Entry, bool) {
	entry, ok := ctx.Value(entryKey{}).(Entry)
	return entry, ok
}

// Lister lists acts.
type Lister interface {
	// Entries returns the first entries after one, at most limit of them, newest first. The zero Entry is before all of them.
	Entries(ctx context.Context, after Entry, limit int) ([]Entry, error)
}
