package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// store is one in memory, whose lookups wait while it is held and whose lists are as long and as broken as a test
// likes.
type store struct {
	secret  token.Secret
	others  map[token.Hash]user.ID // other tokens, and their owners
	ids     int
	failure error // after the last id

	waiting chan struct{} // receives one for each lookup that waits
	held    chan struct{} // closed: go on
	ended   atomic.Int64  // lookups that were cancelled while they waited
	lookups atomic.Int64  // of tokens

	lookingUp func() // is called by each of them, if it is set
}

func newStore() *store {
	s := &store{secret: token.Generate(), waiting: make(chan struct{}, 1000), held: make(chan struct{})}
	close(s.held)
	return s
}

// storedUsers and storedPastes are the ports that the tests need of a store; nil stands for the others.
type (
	storedUsers struct {
		users.Store
		*store
	}
	storedPastes struct {
		paste.Store
		*store
	}
	storedTokens struct {
		token.Store
		*store
	}
)

func (s storedUsers) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	select {
	case <-s.held:
	default:
		s.waiting <- struct{}{}
		cancelled := make(chan struct{})
		defer context.AfterFunc(ctx, func() {
			if errors.Is(ctx.Err(), context.Canceled) { // the deadline is no matter here
				close(cancelled)
			}
		})()
		select {
		case <-s.held:
		case <-cancelled:
			s.ended.Add(1)
			return user.User{}, fault.Wrap(fault.Unavailable, "cancelled", ctx.Err())
		}
	}
	return user.User{ID: "hiqpz8s5", Name: name, PublicProfile: true}, nil
}

func (s storedTokens) ByHash(_ context.Context, hash token.Hash) (token.Token, user.User, error) {
	s.lookups.Add(1)
	if s.lookingUp != nil {
		s.lookingUp()
	}
	if owner, ok := s.others[hash]; ok {
		return token.Token{ID: "k2", Owner: owner, Hash: hash}, user.User{ID: owner}, nil
	}
	return token.Token{ID: "k1", Owner: "hiqpz8s5", Hash: s.secret.Hash()}, user.User{ID: "hiqpz8s5"}, nil
}

func (s storedPastes) ActiveIDs(_ context.Context, _ user.ID,
	after paste.Place, limit int) (ids []paste.ID, at paste.Place, err error) {
	first := 0
	if after.ID != "" {
		last, err := strconv.Atoi(string(after.ID[1:]))
		if err != nil {
			return nil, at, err
		}
		first = last - firstID + 1
	}
	ids = []paste.ID{}
	for i := first; i < s.ids && len(ids) < limit; i++ {
		at = paste.Place{CreatedAt: time.Unix(1, 0), ID: paste.ID("p" + strconv.Itoa(firstID+i))}
		ids = append(ids, at.ID)
	}
	if len(ids) < limit {
		return ids, at, s.failure
	}
	return ids, at, nil
}

// ReadDocument has one paste that everybody may see, "open0000", and one that only the holder of the secret may,
// "private0".
func (s storedPastes) ReadDocument(_ context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	if id != "open0000" && (id != "private0" || reader != "hiqpz8s5") {
		return paste.Document{}, fault.New(fault.NotFound, "there is no such row")
	}
	found := paste.Document{Paste: paste.Paste{ID: id, Owner: "hiqpz8s5", CreatedAt: time.Unix(1, 0)}}
	found.Pasties = []paste.Pasty{{ID: "pasty000", Language: "Go", Code: "package main\n"}}
	if id == "private0" {
		found.Visibility = paste.Private
	}
	return found, nil
}

func (s storedPastes) ReadPasty(ctx context.Context, id paste.ID, pasty string, reader user.ID) (paste.Pasty, error) {
	found, err := s.ReadDocument(ctx, id, reader)
	if err != nil {
		return paste.Pasty{}, err
	}
	return found.PastyOrFirst(pasty)
}

const firstID = 1_000_000 // so that all have as many digits

// list is what the store's list is as an answer.
func (s *store) list() string {
	var list strings.Builder
	for i := range s.ids {
		fmt.Fprintf(&list, `,"p%d"`, firstID+i)
	}
	return "[" + strings.TrimPrefix(list.String(), ",") + "]"
}

func (s *store) modules() Modules {
	return Modules{
		Users:     users.New(storedUsers{store: s}, paste.Lifetimes{}, nil, time.Now),
		Tokens:    tokens.New(storedTokens{store: s}, nil, time.Now),
		Pastes:    pastes.New(storedPastes{store: s}, nil, pastes.Options{}, time.Now),
		Languages: languages.New(copies{}),
	}
}

// copies is a port that returns a new language each time.
type copies struct{ language.Catalogue }

func (c copies) All() []*language.Language {
	known, _ := c.ByName("Go")
	return []*language.Language{known}
}

func (copies) ByName(name string) (*language.Language, bool) {
	if name != "Go" && name != "golang" {
		return nil, false
	}
	return &language.Language{Name: "Go", Mode: "go", MIMETypes: []string{"text/x-go"}, Extensions: []string{"go"},
		Color: "#00add8"}, true
}
