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

// store is in memory. Its lookups wait until it is released, and its lists are as long as a test likes, and may fail.
type store struct {
	secret  token.Secret
	others  map[token.Hash]user.ID // other tokens, and their owners
	ids     int
	failure error // after the last id

	waiting  chan struct{} // receives one for each lookup that waits
	released chan struct{} // closed: lookups go on
	canceled atomic.Int64  // lookups canceled while they waited
	lookups  atomic.Int64  // of tokens

	onLookup func() // called by each of them; or nil
}

func newStore() *store {
	s := &store{secret: token.Generate(), waiting: make(chan struct{}, 1000), released: make(chan struct{})}
	close(s.released)
	return s
}

// The ports that the tests need. Methods of the embedded nil interfaces are not called.
type (
	testUsers struct {
		user.Store
		*store
	}
	testPastes struct {
		paste.Store
		*store
	}
	testTokens struct {
		token.Store
		*store
	}
)

func (s testUsers) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	select {
	case <-s.released:
	default:
		s.waiting <- struct{}{}
		cancelled := make(chan struct{})
		defer context.AfterFunc(ctx, func() {
			if errors.Is(ctx.Err(), context.Canceled) { // a deadline does not matter here
				close(cancelled)
			}
		})()
		select {
		case <-s.released:
		case <-cancelled:
			s.canceled.Add(1)
			return user.User{}, fault.Wrap(fault.Unavailable, "cancelled", ctx.Err())
		}
	}
	return user.User{ID: "hiqpz8s5", Name: name, PublicProfile: true}, nil
}

func (s testTokens) ByHash(_ context.Context, hash token.Hash) (token.Token, user.User, error) {
	s.lookups.Add(1)
	if s.onLookup != nil {
		s.onLookup()
	}
	if owner, ok := s.others[hash]; ok {
		return token.Token{ID: "k2", Owner: owner, Hash: hash}, user.User{ID: owner}, nil
	}
	return token.Token{ID: "k1", Owner: "hiqpz8s5", Hash: s.secret.Hash()}, user.User{ID: "hiqpz8s5"}, nil
}

func (s testPastes) ActiveIDs(_ context.Context, _ user.ID,
	after paste.Cursor, limit int) (ids []paste.ID, at paste.Cursor, err error) {
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
		at = paste.Cursor{CreatedAt: time.Unix(1, 0), ID: paste.ID("p" + strconv.Itoa(firstID+i))}
		ids = append(ids, at.ID)
	}
	if len(ids) < limit {
		return ids, at, s.failure
	}
	return ids, at, nil
}

// ReadDocument finds one paste that everybody may read, "open0000", and one for the holder of the secret, "private0".
func (s testPastes) ReadDocument(_ context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	if id != "open0000" && (id != "private0" || reader != "hiqpz8s5") {
		return paste.Document{}, fault.New(fault.NotFound, "there is no such row")
	}
	document := paste.Document{Paste: paste.Paste{ID: id, Owner: "hiqpz8s5", CreatedAt: time.Unix(1, 0)}}
	document.Pasties = []paste.Pasty{{ID: "pasty000", Language: "Go", Code: "package main\n"}}
	if id == "private0" {
		document.Visibility = paste.Private
	}
	return document, nil
}

func (s testPastes) ReadPasty(ctx context.Context, id paste.ID, pasty string, reader user.ID) (paste.Pasty, error) {
	document, err := s.ReadDocument(ctx, id, reader)
	if err != nil {
		return paste.Pasty{}, err
	}
	return document.PastyOrFirst(pasty)
}

const firstID = 1_000_000 // so that all have as many digits

// list returns the store's list as it is answered.
func (s *store) list() string {
	var list strings.Builder
	for i := range s.ids {
		fmt.Fprintf(&list, `,"p%d"`, firstID+i)
	}
	return "[" + strings.TrimPrefix(list.String(), ",") + "]"
}

func (s *store) modules() Modules {
	return Modules{
		Users:     users.New(testUsers{store: s}, nil, paste.Lifetimes{}, nil, time.Now),
		Tokens:    tokens.New(testTokens{store: s}, nil, time.Now),
		Pastes:    pastes.New(testPastes{store: s}, nil, pastes.Options{}, time.Now),
		Languages: languages.New(copies{}),
	}
}

// copies is a catalogue that returns a new language each time.
type copies struct{ language.Catalogue }

func (c copies) All() []*language.Language {
	lang, _ := c.ByName("Go")
	return []*language.Language{lang}
}

func (copies) ByName(name string) (*language.Language, bool) {
	if name != "Go" && name != "golang" {
		return nil, false
	}
	return &language.Language{Name: "Go", Mode: "go", MIMETypes: []string{"text/x-go"}, Extensions: []string{"go"},
		Color: "#00add8"}, true
}
