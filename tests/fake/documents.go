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
	doc := p.document(id)
	if doc.ID == "" {
		return paste.Document{}, errNotFound
	}
	return doc, nil
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

// ReadWithoutContent implements paste.Store.
func (p Pastes) ReadWithoutContent(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	doc, err := p.ReadDocument(ctx, id, reader)
	doc.Tags, doc.Pasties, doc.Edits = nil, nil, nil
	return doc, err
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
	p.remove(func(other paste.Paste) bool { return other.ID == id })
	return stored, nil
}

// document returns the active paste with this id, or the zero document.
func (s *Store) document(id paste.ID) paste.Document {
	for _, p := range s.pastes {
		if p.ID == id && s.active(p) {
			doc := paste.Document{Paste: p, Content: clone(s.contents[id])}
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
	if _, exists := s.contents[created.ID]; exists {
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
	after, err := change(stored)
	switch {
	case err != nil:
		return paste.Document{}, err
	case !after.Changed:
		return p.document(id), nil
	}
	after.ID, after.CreatedAt, after.Burns, after.Cipher = stored.ID, stored.CreatedAt, stored.Burns, stored.Cipher
	p.pastes[slices.Index(p.pastes, stored.Paste)] = after.Paste
	if p.unshared == nil {
		p.unshared = make(map[paste.ID]bool)
	}
	p.unshared[id] = paste.Unshared(p.unshared[id], stored.Visibility, after.Visibility)
	p.keep(after.Document)
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
	p.remove(func(other paste.Paste) bool { return other.ID == id })
	return nil
}

// remove deletes pastes, and leaves tombstones for imports.
func (s *Store) remove(which func(paste.Paste) bool) {
	s.pastes = slices.DeleteFunc(s.pastes, func(p paste.Paste) bool {
		if !which(p) {
			return false
		}
		s.bury("paste", string(p.ID))
		delete(s.contents, p.ID)
		delete(s.unshared, p.ID)
		return true
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
		_, exists := p.contents[record.ID]
		owner := record.Over(paste.Document{}, false).Owner
		if !exists && p.buried("paste", string(record.ID)) || p.removedUser(owner) {
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
		at := slices.IndexFunc(p.pastes, func(other paste.Paste) bool { return other.ID == record.ID })
		var before paste.Document
		if at >= 0 {
			before = paste.Document{Paste: p.pastes[at], Content: p.contents[record.ID]}
		}
		after := record.Over(before, p.unshared[record.ID])
		after.CreatedAt, after.ExpiresAt = after.CreatedAt.UTC(), after.ExpiresAt.UTC()
		switch {
		case at < 0:
			p.pastes = append(p.pastes, after.Paste)
		case before.Paste == after.Paste && reflect.DeepEqual(before.Content, clone(after.Content)):
			results[i].Outcome = batch.Unchanged
		default:
			results[i].Outcome, p.pastes[at] = batch.Updated, after.Paste
		}
		p.keep(after)
	}
	return results, nil
}

// clone returns a deep copy of c, with times and empty lists as a database returns them.
func clone(c paste.Content) paste.Content {
	c.Tags, c.Pasties, c.Edits = slices.Concat(c.Tags), slices.Concat(c.Pasties), slices.Concat(c.Edits)
	for i := range c.Edits {
		c.Edits[i].At = c.Edits[i].At.UTC()
		c.Edits[i].Metadata = slices.Clone(c.Edits[i].Metadata)
	}
	if c.Cipher != nil {
		cipher := *c.Cipher
		cipher.Data, cipher.Key, cipher.Salt = slices.Clone(cipher.Data), slices.Clone(cipher.Key), slices.Clone(cipher.Salt)
		c.Cipher = &cipher
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

// ForgetOrigins implements paste.Store. The fake keeps no origins.
func (p Pastes) ForgetOrigins(ctx context.Context, _ time.Duration, _ int) (int, error) {
	return p.PurgeRemoved(ctx, 0, 0)
}

// DeleteRemoved implements paste.Store. The fake keeps no removed pastes.
func (p Pastes) DeleteRemoved(ctx context.Context, _ auditlog.Entry, _ paste.ID) error {
	if _, err := p.PurgeRemoved(ctx, 0, 0); err != nil {
		return err
	}
	return errNotFound
}

// PurgeRemoved implements paste.Store. The fake keeps no removed pastes.
func (p Pastes) PurgeRemoved(ctx context.Context, _ time.Duration, _ int) (int, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return 0, nil
}

// FinishDeletions implements paste.Store. Nothing interrupts deletions here.
func (p Pastes) FinishDeletions(ctx context.Context, _ int) (int, error) {
	return p.PurgeRemoved(ctx, 0, 0)
}
