package fake

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// DocumentByID implements paste.Store.
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

// ReadDocument implements paste.Store.
func (p Pastes) ReadDocument(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	doc, err := p.DocumentByID(ctx, id)
	if err != nil {
		return paste.Document{}, err
	}
	if _, err := doc.ForReader(reader); err != nil {
		if errors.Is(err, paste.ErrBurns) {
			return paste.Document{}, err
		}
		return paste.Document{}, errNotFound
	}
	doc.Starred = slices.Contains(p.stars[reader], string(id))
	return doc, nil
}

// ReadPasty implements paste.Store.
func (p Pastes) ReadPasty(ctx context.Context, id paste.ID, pasty string, reader user.ID) (paste.Pasty, error) {
	doc, err := p.ReadDocument(ctx, id, reader)
	if err != nil {
		return paste.Pasty{}, err
	}
	return doc.PastyOrFirst(pasty)
}

// ReadCipher implements paste.Store.
func (p Pastes) ReadCipher(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	doc, err := p.DocumentByID(ctx, id)
	if err == nil {
		err = doc.CipherReadableBy(reader)
	}
	if err != nil {
		return paste.Document{}, paste.ReplaceNotFound(err)
	}
	doc.Starred = slices.Contains(p.stars[reader], string(id))
	return doc, nil
}

// Burn implements paste.Store.
func (p Pastes) Burn(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return paste.Document{}, err
	}
	defer unlock()
	stored := p.document(id)
	if stored.ID == "" || stored.BurnableBy(reader) != nil {
		return paste.Document{}, errNotFound
	}
	p.remove(func(known paste.Paste) bool { return known.ID == id })
	return stored, nil
}

// document returns the active paste of that id, or the zero one.
func (s *Store) document(id paste.ID) paste.Document {
	for _, known := range s.pastes {
		if known.ID == id && s.active(known) {
			doc := paste.Document{Paste: known, Content: clone(s.contents[id])}
			for _, stars := range s.stars {
				if slices.Contains(stars, string(id)) {
					doc.Stars++
				}
			}
			return doc
		}
	}
	return paste.Document{}
}

// CreateDocument implements paste.Store.
func (p Pastes) CreateDocument(ctx context.Context, created paste.Document) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return p.create(created)
}

func (s *Store) create(created paste.Document) error {
	if _, taken := s.contents[created.ID]; taken {
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

// Update implements paste.Store.
func (p Pastes) Update(
	ctx context.Context, _ auditlog.Entry, id paste.ID, change func(paste.Document) (paste.Change, error),
) (paste.Document, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return paste.Document{}, err
	}
	defer unlock()
	stored := p.document(id)
	if stored.ID == "" {
		return paste.Document{}, errNotFound
	}
	created, err := change(stored)
	switch {
	case err != nil:
		return paste.Document{}, err
	case !created.Changed:
		return p.document(id), nil
	}
	created.ID, created.CreatedAt, created.Burns, created.Cipher = stored.ID, stored.CreatedAt, stored.Burns, stored.Cipher
	p.pastes[slices.Index(p.pastes, stored.Paste)] = created.Paste
	if p.unshared == nil {
		p.unshared = make(map[paste.ID]bool)
	}
	p.unshared[id] = paste.Unshared(p.unshared[id], stored.Visibility, created.Visibility)
	p.keep(created.Document)
	return p.document(id), nil
}

// DeleteIf implements paste.Store.
func (p Pastes) DeleteIf(ctx context.Context, _ auditlog.Entry, id paste.ID, allow func(paste.Paste) error) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	stored := p.document(id).Paste
	if stored.ID == "" {
		return errNotFound
	}
	if err := allow(stored); err != nil {
		return err
	}
	p.remove(func(known paste.Paste) bool { return known.ID == id })
	return nil
}

// remove deletes pastes, and remembers that for imports.
func (s *Store) remove(which func(paste.Paste) bool) {
	s.pastes = slices.DeleteFunc(s.pastes, func(known paste.Paste) bool {
		gone := which(known)
		if gone {
			s.bury("paste", string(known.ID))
			delete(s.contents, known.ID)
			delete(s.unshared, known.ID)
		}
		return gone
	})
}

// Import implements paste.Store.
func (p Pastes) Import(ctx context.Context, pastes []paste.Import, orphans paste.Orphans) ([]batch.Result, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	results := make([]batch.Result, len(pastes))
	for i, record := range pastes {
		_, known := p.contents[record.ID]
		owner := record.Over(paste.Document{}, false).Owner
		if !known && p.buried("paste", string(record.ID)) || p.removedUser(owner) {
			results[i].Outcome = batch.RemovedEarlier
			continue
		}
		if owner != "" && !p.exists(owner) {
			if orphans != paste.AnonymizeOrphans {
				results[i].Err = errNotFound
				continue
			}
			record.Owner = new(user.ID)
		}
		stored := slices.IndexFunc(p.pastes, func(known paste.Paste) bool { return known.ID == record.ID })
		var before paste.Document
		if stored >= 0 {
			before = paste.Document{Paste: p.pastes[stored], Content: p.contents[record.ID]}
		}
		after := record.Over(before, p.unshared[record.ID])
		after.CreatedAt, after.ExpiresAt = after.CreatedAt.UTC(), after.ExpiresAt.UTC()
		switch {
		case stored < 0:
			p.pastes = append(p.pastes, after.Paste)
		case before.Paste == after.Paste && reflect.DeepEqual(before.Content, clone(after.Content)):
			results[i].Outcome = batch.Unchanged
		default:
			results[i].Outcome, p.pastes[stored] = batch.Updated, after.Paste
		}
		p.keep(after)
	}
	return results, nil
}

// clone returns a copy that shares nothing with c, with times and empty lists as a database returns them.
func clone(c paste.Content) paste.Content {
	c.Tags, c.Pasties, c.Edits = slices.Concat(c.Tags), slices.Concat(c.Pasties), slices.Concat(c.Edits)
	for i := range c.Edits {
		c.Edits[i].At = c.Edits[i].At.UTC()
		c.Edits[i].Metadata = slices.Clone(c.Edits[i].Metadata)
	}
	if c.Cipher != nil {
		copied := *c.Cipher
		copied.Data, copied.Key, copied.Salt = slices.Clone(copied.Data), slices.Clone(copied.Key), slices.Clone(copied.Salt)
		c.Cipher = &copied
	}
	return c
}

// RemovalNotice implements paste.Store.
func (p Pastes) RemovalNotice(ctx context.Context, id paste.ID) (bool, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	return p.Removed[id], nil
}

// ForgetOrigins implements paste.Store. Nothing is kept here.
func (p Pastes) ForgetOrigins(ctx context.Context, _ time.Duration, _ int) (int, error) {
	return p.PurgeRemoved(ctx, 0, 0)
}

// DeleteRemoved implements paste.Store. Nothing is kept here.
func (p Pastes) DeleteRemoved(ctx context.Context, _ auditlog.Entry, _ paste.ID) error {
	if _, err := p.PurgeRemoved(ctx, 0, 0); err != nil {
		return err
	}
	return errNotFound
}

// PurgeRemoved implements paste.Store. Nothing is kept here.
func (p Pastes) PurgeRemoved(ctx context.Context, _ time.Duration, _ int) (int, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return 0, nil
}

// FinishDeletions implements paste.Store. None is interrupted here.
func (p Pastes) FinishDeletions(ctx context.Context, _ int) (int, error) {
	return p.PurgeRemoved(ctx, 0, 0)
}
