// Package application tests rules that span modules of use cases.
package application

import (
	"reflect"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/modules"
)

// TestZeroActorMayDoNothing calls every method that takes an actor with the zero actor. Each must refuse it first.
func TestZeroActorMayDoNothing(t *testing.T) {
	t.Parallel()
	m := modules.New()
	actor, calls := reflect.TypeFor[audit.Actor](), 0
	for _, useCases := range []any{
		m.Users, m.Tokens, m.Pastes, m.Search, m.Stats, m.Accounts,
		moderation.New(nil, m.UserStore, nil, nil, nil, m.Clock),
		imports.New(m.UserStore, m.TokenStore, m.PasteStore, time.Now),
	} {
		for _, useCase := range reflect.ValueOf(useCases).Elem().Fields() {
			for j := range useCase.NumMethod() {
				method := useCase.Type().Method(j)
				if kind := method.Type; kind.NumIn() < 3 || kind.In(2) != actor {
					continue
				}
				calls++
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
	if calls < 60 {
		t.Errorf("got %d methods that take an actor, want at least 60", calls)
	}
}

// TestWhoMayReadEverything checks which kinds of actors may read other people's data, apart from moderation.
func TestWhoMayReadEverything(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "epoxy"})
	a := m.Accounts
	admin := token.Viewer{User: user.User{ID: "root", Admin: true}}
	readOnly, suspended := admin, admin
	readOnly.Token.Scope, suspended.User.Suspended = token.Read, true
	const allowed = fault.None
	for name, c := range map[string]struct {
		actor               audit.Actor
		administer, operate fault.Kind
	}{
		"visitor":         {modules.By(token.Viewer{}), fault.Unauthenticated, fault.Forbidden},
		"user":            {modules.By(m.SignIn(t, "epoxy")), fault.Forbidden, fault.Forbidden},
		"suspended":       {modules.By(suspended), fault.Forbidden, fault.Forbidden},
		"read-only token": {modules.By(readOnly), allowed, fault.Forbidden},
		"administrator":   {modules.By(admin), allowed, fault.Forbidden},
		"operator":        {audit.Operator(), allowed, allowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, reads := t.Context(), make(map[string]error)
			_, reads["users.Show"] = m.Users.Show.Do(ctx, c.actor, "epoxy")
			reads["users.List"] = m.Users.List.Do(ctx, c.actor, func(user.User) error { return nil })
			_, reads["tokens.List"] = m.Tokens.List.Do(ctx, c.actor, "epoxy")
			_, reads["Sessions.List"] = m.Tokens.Sessions.List(ctx, c.actor, "epoxy")
			_, reads["Invitations.All"] = a.Invite.All(ctx, c.actor)
			_, err := a.Find.Do(ctx, c.actor, "github:1")
			reads["accounts.Find"] = fault.Replace(err, fault.NotFound, nil)
			for what, err := range reads {
				if fault.KindOf(err) != c.administer {
					t.Errorf("%s: got %v, want the kind %q", what, err, c.administer)
				}
			}
			_, show := m.Pastes.Show.Do(ctx, c.actor, "unknown0")
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
