package gormstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Tokens keeps access tokens.
type Tokens struct {
	store    *Store
	byHash   *dataloader[token.Hash, token.Token]
	accounts *dataloader[token.Hash, tokenAccount]
}

// NewTokens returns the tokens of a store.
func NewTokens(store *Store) *Tokens {
	accounts := &lookup[token.Hash, tokenAccount]{
		store: store, gates: []*gate{store.sql.accounts},
		one:    store.queries.accountByHash,
		args:   func(hash token.Hash) []any { return store.timed(hash[:]) },
		many:   store.queries.accountsByHashes,
		arrays: func(hashes []token.Hash) []any { return []any{bytesOf(hashes)} },
		newRow: func() scannable[tokenAccount] { return new(accountRow) },
	}
	return &Tokens{
		store:    store,
		byHash:   newTokensByHash(store),
		accounts: accounts.merged(store.sql.accountsAtOnce, &store.batches.accounts),
	}
}

func newTokensByHash(store *Store) *dataloader[token.Hash, token.Token] {
	byHash := &lookup[token.Hash, token.Token]{
		store:  store,
		one:    store.queries.tokenByHash,
		args:   func(hash token.Hash) []any { return []any{hash[:]} },
		many:   store.queries.tokensByHashes,
		arrays: func(hashes []token.Hash) []any { return []any{bytesOf(hashes)} },
		newRow: func() scannable[token.Token] { return new(tokenRow) },
	}
	return byHash.merged(store.sql.lookupsAtOnce, &store.batches.tokens)
}

// tokenAccount is a token and the account it opens.
type tokenAccount struct {
	token   token.Token
	account user.Account
}

var (
	_ token.Finder        = (*Tokens)(nil)
	_ token.AccountFinder = (*Tokens)(nil)
	_ token.Creator       = (*Tokens)(nil)
	_ token.UseWriter     = (*Tokens)(nil)
	_ token.OwnerLister   = (*Tokens)(nil)
	_ token.Revoker       = (*Tokens)(nil)
	_ token.Importer      = (*Tokens)(nil)
)

type tokenRow struct {
	ID         string `gorm:"primaryKey"`
	UserID     string
	Hash       []byte
	Name       string
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt  sql.NullTime
	LastUsedAt sql.NullTime
	RevokedAt  sql.NullTime
}

func (tokenRow) TableName() string { return "access_tokens" }

// ByHash implements token.Finder.
func (t *Tokens) ByHash(ctx context.Context, hash token.Hash) (token.Token, error) {
	return t.byHash.find(ctx, hash)
}

// AccountByHash implements token.AccountFinder.
func (t *Tokens) AccountByHash(ctx context.Context, hash token.Hash) (token.Token, user.Account, error) {
	got, err := t.accounts.find(ctx, hash)
	return got.token, got.account, err
}

func bytesOf(hashes []token.Hash) [][]byte {
	texts := make([][]byte, len(hashes))
	for i := range hashes {
		texts[i] = hashes[i][:]
	}
	return texts
}

// accountRow is a row of the account statements.
type accountRow struct {
	token           tokenRow
	owner           userRow
	stars, services []byte // JSON, so that two lists of any length fit into the one row
}

func (r *accountRow) fields() []any {
	return append(append(r.token.fields(), r.owner.fields()...), &r.stars, &r.services)
}

func (r *accountRow) value() (a tokenAccount, err error) {
	a.token = r.token.token()
	if a.account.User, err = r.owner.value(); err != nil {
		return tokenAccount{}, err
	}
	if err := errors.Join(json.Unmarshal(r.stars, &a.account.Stars), json.Unmarshal(r.services, &a.account.Services)); err != nil {
		return tokenAccount{}, fault.Unforeseen(err)
	}
	return a, nil
}

// Create implements token.Creator.
func (t *Tokens) Create(ctx context.Context, created token.Token) error {
	return translate(t.store.gorm.WithContext(ctx).Create(newTokenRow(created)).Error)
}

// SetLastUsed implements token.UseWriter.
func (t *Tokens) SetLastUsed(ctx context.Context, uses map[token.ID]time.Time) error {
	ids := slices.Sorted(maps.Keys(uses))
	for some := range slices.Chunk(ids, usesAtOnce) {
		args, err := t.store.useArguments(some, uses)
		if err != nil {
			return fault.Unforeseen(err)
		}
		err = retried(ctx, func() error {
			_, err := t.store.sql.ExecContext(ctx, t.store.queries.setLastUsed, args...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// usesAtOnce bounds how long one statement holds its locks.
const usesAtOnce = 1000

// useArguments are those of queries.setLastUsed.
func (s *Store) useArguments(ids []token.ID, uses map[token.ID]time.Time) ([]any, error) {
	if s.file != nil {
		microseconds := make(map[token.ID]int64, len(ids))
		for _, id := range ids {
			microseconds[id] = uses[id].UnixMicro()
		}
		object, err := json.Marshal(microseconds)
		return []any{string(object)}, err
	}
	texts, times := make([]string, len(ids)), make([]time.Time, len(ids))
	for i, id := range ids {
		texts[i], times[i] = string(id), instant(uses[id])
	}
	return []any{texts, times}, nil
}

func newTokenRow(t token.Token) *tokenRow {
	return &tokenRow{
		ID: string(t.ID), UserID: string(t.Owner), Hash: t.Hash[:], Name: t.Name, CreatedAt: instant(t.CreatedAt),
		ExpiresAt: nullable(t.ExpiresAt), LastUsedAt: nullable(t.LastUsedAt), RevokedAt: nullable(t.RevokedAt),
	}
}

// fields returns where to scan tokenColumns to, in their order.
func (r *tokenRow) fields() []any {
	return []any{&r.ID, &r.UserID, &r.Hash, &r.Name, &r.CreatedAt, &r.ExpiresAt, &r.LastUsedAt, &r.RevokedAt}
}

func (r *tokenRow) value() (token.Token, error) { return r.token(), nil }

func (r *tokenRow) token() token.Token {
	t := token.Token{
		ID: token.ID(r.ID), Owner: user.ID(r.UserID), Name: r.Name, CreatedAt: r.CreatedAt.UTC(),
		ExpiresAt: fromNullable(r.ExpiresAt), LastUsedAt: fromNullable(r.LastUsedAt), RevokedAt: fromNullable(r.RevokedAt),
	}
	copy(t.Hash[:], r.Hash)
	return t
}

// ByOwner implements token.OwnerLister.
func (t *Tokens) ByOwner(ctx context.Context, owner user.ID) ([]token.Token, error) {
	var rows []tokenRow
	if err := t.store.gorm.WithContext(ctx).Where("user_id = ?", string(owner)).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, translate(err)
	}
	tokens := make([]token.Token, len(rows))
	for i := range rows {
		tokens[i] = rows[i].token()
	}
	return tokens, nil
}

// Revoke implements token.Revoker.
func (t *Tokens) Revoke(ctx context.Context, id token.ID, at time.Time) error {
	if !isText(string(id)) {
		return errNotFound
	}
	result := t.store.gorm.WithContext(ctx).Model(&tokenRow{}).Where("id = ?", string(id)).
		Update("revoked_at", gorm.Expr("coalesce(revoked_at, ?)", instant(at)))
	return translate(orNotFound(result))
}
