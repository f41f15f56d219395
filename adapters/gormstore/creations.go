package gormstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// creation is a paste to be stored on PostgreSQL, in one statement.
type creation struct {
	row       *pasteRow
	presented token.Hash // of the token whose owner is the paste's, where that is not in the row
	lifetime  string
	document  []byte
}

func newCreation(presented token.Hash, created paste.Document) creation {
	c := creation{newPasteRow(created.Paste), presented, string(created.Lifetime), encodeDocument(created.Content)}
	c.row.Visibility = int16(created.Visibility)
	return c
}

// args are those of the statement for one; the owner of a paste with a hash is asked for by it.
func (c *creation) args() []any {
	owner := any(c.row.OwnerID)
	if c.presented != (token.Hash{}) {
		owner = c.presented[:]
	}
	return []any{c.row.ID, owner, c.row.CreatedAt, c.row.ExpiresAt, c.row.Visibility, c.lifetime, c.document}
}

// arrays are the arguments of the statement for several.
func arrays(creations []creation) []any {
	n := len(creations)
	var (
		ids, lifetimes = make([]string, n), make([]string, n)
		hashes, owners = make([][]byte, n), make([]*string, n)
		created        = make([]time.Time, n)
		expires        = make([]*time.Time, n)
		visibilities   = make([]int16, n)
		documents      = make([][]byte, n)
	)
	for i := range creations {
		c := &creations[i]
		ids[i], lifetimes[i], hashes[i], documents[i] = c.row.ID, c.lifetime, c.presented[:], c.document
		created[i], visibilities[i] = c.row.CreatedAt, c.row.Visibility
		if c.row.OwnerID.Valid {
			owners[i] = &c.row.OwnerID.String
		}
		if c.row.ExpiresAt.Valid {
			expires[i] = &c.row.ExpiresAt.Time
		}
	}
	owner := any(owners)
	if creations[0].presented != (token.Hash{}) {
		owner = hashes
	}
	return []any{ids, owner, created, expires, visibilities, lifetimes, documents}
}

// newCreations returns how new pastes are stored: those that wait at the same moment by one statement, which is all or
// nothing, so that they share a wait for the disk. When it fails, each is stored by itself. The answers are the tokens of
// those that have one.
//
// Why it is there: writes may have less than half of the connections, and PostgreSQL waits for the disk with each commit. Without
// it, 8 clients who create get a third of what they would on a connection each (decision 0038).
func newCreations(store *Store, one, many string) *dataloader[creation, token.Token] {
	alone := func(ctx context.Context, c creation) (token.Token, error) {
		var holder tokenRow
		missing := errNotFound
		err := store.creating(ctx, func(conn *pgx.Conn) error {
			return queryPostgresRows(ctx, conn, one, holder.fields(), func() error {
				missing = nil
				return nil
			}, c.args()...)
		})
		switch {
		case err != nil:
			return token.Token{}, err
		case c.presented == token.Hash{}:
			return token.Token{}, nil
		case missing != nil:
			return token.Token{}, missing
		}
		return holder.token(), nil
	}
	together := func(ctx context.Context, creations []creation) ([]found[token.Token], error) {
		var (
			answers  = make([]found[token.Token], len(creations))
			position int
			holder   tokenRow
			fields   = append([]any{&position}, holder.fields()...)
			args     = arrays(creations)
		)
		err := store.creating(ctx, func(conn *pgx.Conn) error {
			for i := range answers { // it may be another attempt
				answers[i] = found[token.Token]{}
				if creations[i].presented != (token.Hash{}) {
					answers[i].err = errNotFound
				}
			}
			return queryPostgresRows(ctx, conn, many, fields, func() error {
				answers[position-1] = found[token.Token]{value: holder.token()}
				return nil
			}, args...)
		})
		return answers, err
	}
	return newDataloader(store.sql.creationsAtOnce, &store.batches.creations, alone, together, store.sql.writes, store.sql.bulk)
}

// creating runs a statement that creates, as one of the writes.
func (s *Store) creating(ctx context.Context, run func(*pgx.Conn) error) error {
	leave, err := enter(ctx, s.sql.writes, s.sql.bulk)
	if err != nil {
		return err
	}
	defer leave()
	return retried(ctx, func() error {
		return lendConn(ctx, s.sql.DB, func(_ context.Context, conn *pgx.Conn) error { return run(conn) })
	})
}

// create stores a paste on PostgreSQL. A large one goes by itself: nobody waits for it, or has it in memory with others.
func create(ctx context.Context, creations *dataloader[creation, token.Token], c creation) (token.Token, error) {
	if len(c.document) > largeDocument {
		return creations.one(ctx, c)
	}
	return creations.find(ctx, c)
}

// CreateDocument implements paste.DocumentCreator.
func (p *Pastes) CreateDocument(ctx context.Context, created paste.Document) error {
	if p.store.file != nil || len(created.Edits) > 0 {
		return p.store.transaction(ctx, func(tx *gorm.DB) error { return createDocument(tx, created) })
	}
	_, err := create(ctx, p.creations, newCreation(token.Hash{}, created))
	return err
}

func createDocument(tx *gorm.DB, created paste.Document) error {
	row := newPasteRow(created.Paste)
	row.Visibility = int16(created.Visibility)
	if err := tx.Create(row).Error; err != nil {
		return err
	}
	if err := tx.Create(newContentRow(created, 0)).Error; err != nil {
		return err
	}
	if len(created.Edits) == 0 {
		return nil
	}
	return tx.CreateInBatches(newEditRows(created.ID, created.Edits, 0), insertRows).Error
}

// CreateOwnDocument implements paste.DocumentCreator.
func (p *Pastes) CreateOwnDocument(ctx context.Context, presented token.Hash, created paste.Document) (holder token.Token, err error) {
	switch {
	case presented == token.Hash{}: // that of no token
		return token.Token{}, errNotFound
	case p.store.file == nil && len(created.Edits) == 0:
		return create(ctx, p.owns, newCreation(presented, created))
	}
	err = p.store.transaction(ctx, func(tx *gorm.DB) error {
		var row tokenRow
		if err := tx.Where("hash = ?", presented[:]).Take(&row).Error; err != nil {
			return err
		}
		holder = row.token()
		if accepted := holder.Verify(presented, created.CreatedAt) == nil; !accepted {
			return nil
		}
		created.Owner = holder.Owner
		return createDocument(tx, created)
	})
	if err != nil {
		return token.Token{}, err
	}
	return holder, nil
}
