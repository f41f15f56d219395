package fake

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// DocumentByID implements paste.DocumentFinder.
func (p Pastes) DocumentByID(ctx context.Context, id paste.ID) (paste.Document, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return paste.Document{}, err
	}
	defer unlock()
	found := p.document(id)
	if found.ID == "" {
		return paste.Document{}, errNotFound
	}
	return found, nil
}

// ReadDocument implements paste.DocumentReader.
func (p Pastes) ReadDocument(
	ctx context.Context, id paste.ID, presented token.Hash, at time.Time,
) (paste.Document, token.Token, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return paste.Document{}, token.Token{}, err
	}
	defer unlock()
	found, holder := p.document(id), p.holder(presented)
	var reader user.ID
	if holder.Verify(presented, at) == nil {
		reader = holder.Owner
	}
	if _, err := found.SeenBy(reader); err != nil || found.ID == "" {
		return paste.Document{}, holder, errNotFound
	}
	return found, holder, nil
}

// document returns the active paste of that id, or the zero one.
func (s *Store) document(id paste.ID) paste.Document {
	for _, known := range s.pastes {
		if known.ID == id && s.active(known) {
			found := paste.Document{Paste: known, Content: clone(s.contents[id])}
			for _, stars := range s.stars {
				if slices.Contains(stars, string(id)) {
					found.Stars++
				}
			}
			return found
		}
	}
	return paste.Document{}
}

// holder returns the token of that hash, or the zero one.
func (s *Store) holder(presented token.Hash) token.Token {
	for _, known := range s.tokens {
		if known.Hash == presented {
			return known
		}
	}
	return token.Token{}
}

// CreateDocument implements paste.DocumentCreator.
func (p Pastes) CreateDocument(ctx context.Context, created paste.Document) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return p.create(created)
}

func (s *Store) create(created paste.Document) error {
	if slices.ContainsFunc(s.pastes, func(known paste.Paste) bool { return known.ID == created.ID }) {
		return errIDTaken
	}
	if created.Owner != "" && !s.exists(created.Owner) {
		return errNotFound
	}
	created.CreatedAt, created.ExpiresAt = created.CreatedAt.UTC(), created.ExpiresAt.UTC()
	s.pastes = append(s.pastes, created.Paste)
	s.keep(created)
	return nil
}

func (s *Store) keep(d paste.Document) {
	if s.contents == nil {
		s.contents = make(map[paste.ID]paste.Content)
	}
	s.contents[d.ID] = clone(d.Content)
}

// CreateOwnDocument implements paste.DocumentCreator.
func (p Pastes) CreateOwnDocument(ctx context.Context, presented token.Hash, created paste.Document) (token.Token, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return token.Token{}, err
	}
	defer unlock()
	holder := p.holder(presented)
	if holder.ID == "" {
		return token.Token{}, errNotFound
	}
	if holder.Verify(presented, created.CreatedAt) != nil {
		return holder, nil
	}
	created.Owner = holder.Owner
	if err := p.create(created); err != nil {
		return token.Token{}, err
	}
	return holder, nil
}

// Update implements paste.DocumentUpdater.
func (p Pastes) Update(
	ctx context.Context, id paste.ID, presented token.Hash, change func(token.Token, paste.Document) (paste.Change, error),
) (paste.Document, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return paste.Document{}, err
	}
	defer unlock()
	stored := p.document(id)
	made, err := change(p.holder(presented), stored)
	switch {
	case err != nil:
		return paste.Document{}, err
	case stored.ID == "":
		return paste.Document{}, errNotFound
	case !made.Changed:
		return stored, nil
	}
	made.Paste, made.Stars, made.Lifetime, made.Cipher = stored.Paste, stored.Stars, stored.Lifetime, stored.Cipher
	p.keep(made.Document)
	return p.document(id), nil
}

// DeleteIf implements paste.DocumentDeleter.
func (p Pastes) DeleteIf(ctx context.Context, id paste.ID, presented token.Hash, allow func(token.Token, paste.Paste) error) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	stored := p.document(id).Paste
	if err := allow(p.holder(presented), stored); err != nil {
		return err
	}
	if stored.ID == "" {
		return errNotFound
	}
	p.pastes = slices.DeleteFunc(p.pastes, func(known paste.Paste) bool { return known.ID == id })
	delete(p.contents, id)
	return nil
}

// Import implements paste.Importer.
func (p Pastes) Import(ctx context.Context, pastes []paste.Document, orphans paste.Orphans) ([]batch.Result, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	results := make([]batch.Result, len(pastes))
	for i, wanted := range pastes {
		if wanted.Owner != "" && !p.exists(wanted.Owner) {
			if orphans != paste.AnonymizeOrphans {
				results[i].Err = errNotFound
				continue
			}
			wanted.Owner = ""
		}
		wanted.CreatedAt, wanted.ExpiresAt = wanted.CreatedAt.UTC(), wanted.ExpiresAt.UTC()
		stored := slices.IndexFunc(p.pastes, func(known paste.Paste) bool { return known.ID == wanted.ID })
		switch {
		case stored < 0:
			p.pastes = append(p.pastes, wanted.Paste)
		case p.pastes[stored] == wanted.Paste && reflect.DeepEqual(p.contents[wanted.ID], clone(wanted.Content)):
			results[i].Outcome = batch.Unchanged
		default:
			results[i].Outcome, p.pastes[stored] = batch.Updated, wanted.Paste
		}
		p.keep(wanted)
	}
	return results, nil
}

// clone returns a copy that shares nothing with c, with times as a database returns them.
func clone(c paste.Content) paste.Content {
	c.Tags, c.Pasties, c.Edits = slices.Clone(c.Tags), slices.Clone(c.Pasties), slices.Clone(c.Edits)
	for i := range c.Edits {
		c.Edits[i].At = c.Edits[i].At.UTC()
		c.Edits[i].Metadata = slices.Clone(c.Edits[i].Metadata)
	}
	if c.Cipher != nil {
		copied := paste.Cipher{Data: slices.Clone(c.Cipher.Data), Key: slices.Clone(c.Cipher.Key), Salt: slices.Clone(c.Cipher.Salt)}
		c.Cipher = &copied
	}
	return c
}
