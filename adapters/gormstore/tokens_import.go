package gormstore

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

var errHashTaken = fault.New(fault.Conflict, "The key belongs to another user.")

// Import implements token.Store.
func (t *Tokens) Import(ctx context.Context, tokens []token.Token) ([]batch.Result, error) {
	return importBatch(ctx, t.store, tokensImport, tokens, importTokens)
}

func importTokens(tx *gorm.DB, tokens []token.Token) ([]batch.Result, error) {
	ids, hashes, owners := make([]string, len(tokens)), make([]token.Hash, len(tokens)), make([]string, len(tokens))
	keys := make([][]byte, len(tokens))
	for i := range tokens {
		ids[i], hashes[i], owners[i] = string(tokens[i].ID), tokens[i].Hash, string(tokens[i].Owner)
		keys[i] = hashes[i][:]
	}
	users, err := lockOwners(tx, owners)
	if err != nil {
		return nil, err
	}
	deleted, err := withTombstones(tx, model.UserTombstone, owners)
	if err != nil {
		return nil, err
	}
	var rows []model.AccessToken
	if err := db.ForUpdate(tx).Where("id IN ? OR hash IN ?", ids, keys).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	current := make(map[string]token.Hash, len(tokens))
	for _, row := range rows {
		current[row.ID] = row.Domain().Hash
	}
	results, refused := make([]batch.Result, len(tokens)), make([]bool, len(tokens))
	for i, owner := range owners {
		refused[i] = !users[owner]
	}
	refuse(ids, hashes, current, refused)
	changed := make(map[string]*model.AccessToken)
	for i, id := range ids {
		before, ok := current[id]
		switch {
		case !users[owners[i]] && deleted[owners[i]]:
			results[i].Outcome = batch.RemovedEarlier
			continue
		case !users[owners[i]]:
			results[i].Err = errUnknownOwner
			continue
		case refused[i]:
			results[i].Err = errHashTaken
			continue
		case ok && before == hashes[i]:
			results[i].Outcome = batch.Unchanged
			continue
		case ok:
			results[i].Outcome = batch.Updated
		}
		current[id], changed[id] = hashes[i], model.NewAccessToken(tokens[i])
	}
	changedIDs := slices.Sorted(maps.Keys(changed))
	if err := endSessionsOf(tx, changedIDs); err != nil {
		return nil, err
	}
	changedRows := make([]*model.AccessToken, 0, len(changed))
	for _, id := range changedIDs {
		changedRows = append(changedRows, changed[id])
		unique := make([]byte, len(token.Hash{})) // tokens may swap hashes: give the old ones up first
		_, _ = rand.Read(unique)                  // never fails
		if err := tx.Model(&model.AccessToken{}).Where("id = ?", id).Update("hash", unique).Error; err != nil {
			return nil, err
		}
	}
	return results, model.Insert(upsert(tx.Omit("User")), changedRows)
}
