package user

import (
	"context"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

// fixedUsers is a Store of users by their ids.
type fixedUsers struct {
	Store

	names map[ID]string
}

func (u fixedUsers) ByID(_ context.Context, id ID) (User, error) {
	if name, ok := u.names[id]; ok {
		return User{ID: id, Name: Name{name, name}}, nil
	}
	return User{}, fault.New(fault.NotFound, "none")
}

func (u fixedUsers) ByName(_ context.Context, name Name) (User, error) {
	for id := range u.names {
		if u.names[id] == name.Folded() {
			return User{ID: id, Name: name}, nil
		}
	}
	return User{}, fault.New(fault.NotFound, "none")
}

func TestFind(t *testing.T) {
	t.Parallel()
	users := fixedUsers{names: map[ID]string{"u1": "epoxy", "epoxy": "putty", "-odd-": "odd"}}
	for reference, want := range map[string]ID{
		"EPOXY": "u1", "name:epoxy": "u1", "id:epoxy": "epoxy", "u1": "u1", "id:u1": "u1", "putty": "epoxy", "-odd-": "-odd-",
	} {
		if got, err := Find(t.Context(), users, reference); err != nil || got.ID != want {
			t.Errorf("%s: got %s, error %v, want %s", reference, got.ID, err, want)
		}
	}
	for reference, want := range map[string]fault.Kind{
		"name:u1": fault.NotFound, "id:putty": fault.NotFound, "id:": fault.NotFound, "nobody": fault.NotFound,
		"name:-odd-": fault.Invalid, "-": fault.Invalid, "": fault.Invalid, "name:": fault.Invalid,
		"id:id:u1": fault.NotFound,
	} {
		if got, err := Find(t.Context(), users, reference); !fault.Is(err, want) {
			t.Errorf("%q: got %v, error %v, want %v", reference, got, err, want)
		}
	}
}
