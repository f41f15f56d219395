package application

import (
	"reflect"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// TestZeroActorMayDoNothing calls all that takes an actor with none. Each refuses before it looks at anything else.
func TestZeroActorMayDoNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	actor, called := reflect.TypeFor[audit.Actor](), 0
	for _, useCases := range []any{
		w.users, w.tokens, w.pastes, w.search, w.stats, w.registered("open"),
		moderation.New(nil, w.userStore, nil, nil, nil, w.clock),
		imports.New(w.userStore, w.tokenStore, w.pasteStore, time.Now),
	} {
		for _, useCase := range reflect.ValueOf(useCases).Elem().Fields() {
			for j := range useCase.NumMethod() {
				method := useCase.Type().Method(j)
				if kind := method.Type; kind.NumIn() < 3 || kind.In(2) != actor {
					continue
				}
				called++
				arguments := []reflect.Value{useCase, reflect.ValueOf(t.Context())}
				for in := 2; in < method.Type.NumIn(); in++ {
					arguments = append(arguments, reflect.Zero(method.Type.In(in)))
				}
				results := method.Func.Call(arguments)
				err, _ := reflect.TypeAssert[error](results[len(results)-1])
				if !fault.Is(err, fault.Forbidden) {
					t.Errorf("%s.%s: got %v, want fault.Forbidden", useCase.Type(), method.Name, err)
				}
			}
		}
	}
	if called < 60 {
		t.Errorf("got %d methods that take an actor, want all of them", called)
	}
}

// TestWhoMayReadEverything has each kind of actor use what reads other people's data, outside of moderation.
func TestWhoMayReadEverything(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "epoxy"})
	a := w.registered(accounts.Open)
	admin := token.Viewer{User: user.User{ID: "root", Admin: true}}
	readOnly, suspended := admin, admin
	readOnly.Token.Scope, suspended.User.Suspended = token.Read, true
	const allowed = fault.None
	for name, c := range map[string]struct {
		actor               audit.Actor
		administer, operate fault.Kind
	}{
		"visitor":         {by(token.Viewer{}), fault.Unauthenticated, fault.Forbidden},
		"user":            {by(w.viewer(t, "epoxy")), fault.Forbidden, fault.Forbidden},
		"suspended":       {by(suspended), fault.Forbidden, fault.Forbidden},
		"read-only token": {by(readOnly), allowed, fault.Forbidden},
		"administrator":   {by(admin), allowed, fault.Forbidden},
		"operator":        {audit.Operator(), allowed, allowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, reads := t.Context(), make(map[string]error)
			_, reads["users.Show"] = w.users.Show.Do(ctx, c.actor, "epoxy")
			reads["users.List"] = w.users.List.Do(ctx, c.actor, func(user.User) error { return nil })
			_, reads["tokens.List"] = w.tokens.List.Do(ctx, c.actor, "epoxy")
			_, reads["Sessions.List"] = w.tokens.Sessions.List(ctx, c.actor, "epoxy")
			_, reads["Invitations.All"] = a.Invite.All(ctx, c.actor)
			_, err := a.Find.Do(ctx, c.actor, "github:1")
			reads["accounts.Find"] = fault.Replace(err, fault.NotFound, nil)
			for what, err := range reads {
				if fault.KindOf(err) != c.administer {
					t.Errorf("%s: got %v, want the kind %q", what, err, c.administer)
				}
			}
			_, show := w.pastes.Show.Do(ctx, c.actor, "unknown0")
			_, begin := a.SetUp.Begin(ctx, c.actor)
			for what, err := range map[string]error{
				"pastes.Show": fault.Replace(show, fault.NotFound, nil), "SetUp.Begin": fault.Replace(begin, fault.Invalid, nil),
			} {
				if fault.KindOf(err) != c.operate {
					t.Errorf("%s: got %v, want the kind %q", what, err, c.operate)
				}
			}
		})
	}
}

// TestOwnTokensAndSessions shows viewers their own, also to read-only tokens, and refuses visitors.
func TestOwnTokensAndSessions(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "epoxy"})
	viewer := w.viewer(t, "epoxy")
	viewer.Token.Scope = token.Read
	if list, err := w.tokens.List.Own(t.Context(), viewer); err != nil || len(list) != 1 {
		t.Errorf("got %v, error %v, want the one token", list, err)
	}
	if list, err := w.tokens.Sessions.ListOwn(t.Context(), viewer); err != nil || len(list) != 0 {
		t.Errorf("got %v, error %v, want no session", list, err)
	}
	_, tokensErr := w.tokens.List.Own(t.Context(), token.Viewer{})
	_, sessionsErr := w.tokens.Sessions.ListOwn(t.Context(), token.Viewer{})
	if !fault.Is(tokensErr, fault.Unauthenticated) || !fault.Is(sessionsErr, fault.Unauthenticated) {
		t.Errorf("a visitor: got %v and %v, want both refused", tokensErr, sessionsErr)
	}
}
