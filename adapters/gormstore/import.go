package gormstore

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ user.Importer  = (*Users)(nil)
	_ token.Importer = (*Tokens)(nil)
	_ paste.Importer = (*Pastes)(nil)

	errNameTaken    = fault.New(fault.Conflict, "The username belongs to a user with another id; names that differ only in case are the same.")
	errUnknownOwner = fault.New(fault.NotFound, "The owner is not a user here. Import the users first.")
	errHashTaken    = fault.New(fault.Conflict, "The key belongs to another user.")
)

// insertRows is how many rows one INSERT has: SQLite takes 32766 parameters, PostgreSQL 65535.
const insertRows = 1000

// Imports of one kind take turns on PostgreSQL, one transaction each: two that store the same new records
// would wait for each other, because a record has several unique values. The numbers are arbitrary, and next to sweepTryLock's.
const (
	usersImport int64 = 7163384644223837031 + iota
	tokensImport
	pastesImport
)

// batchAttempts is how often a batch is stored as a whole before its records are stored one by one.
const batchAttempts = 3

// importBatch stores records in one transaction with store, which fails as a whole or not at all.
//
// What the rows in the database rule out, store refuses by itself. Where it fails nevertheless, because somebody
// else has written meanwhile, it sees what the other has written when it is called again. If that does not help,
// the records are stored one by one, so that none but those that cannot be stored are refused.
func importBatch[T any](
	ctx context.Context, s *Store, kind int64, records []T, store func(tx *gorm.DB, records []T) ([]batch.Result, error),
) (results []batch.Result, err error) {
	err = s.transaction(ctx, func(tx *gorm.DB) error {
		if lock := s.queries.importLock; lock != "" {
			if err := tx.Exec(lock, kind).Error; err != nil {
				return err
			}
		}
		for range batchAttempts {
			if results, err = undoable(tx, records, store); err == nil || !isAboutRecords(err) {
				return err
			}
		}
		results = make([]batch.Result, len(records))
		for i := range records {
			alone, err := undoable(tx, records[i:i+1], store)
			switch {
			case err == nil:
				results[i] = alone[0]
			case isAboutRecords(err):
				results[i].Err = recordFault(err)
			default:
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// undoable calls store and, if it fails, undoes what it did, but not the transaction.
func undoable[T any](tx *gorm.DB, records []T, store func(*gorm.DB, []T) ([]batch.Result, error)) ([]batch.Result, error) {
	if err := tx.Exec("SAVEPOINT batch").Error; err != nil {
		return nil, err
	}
	results, err := store(tx, records)
	if err != nil {
		if undone := tx.Exec("ROLLBACK TO SAVEPOINT batch").Error; undone != nil {
			return nil, errors.Join(err, undone)
		}
		return nil, err
	}
	return results, tx.Exec("RELEASE SAVEPOINT batch").Error
}

// isAboutRecords reports whether err is about what was to be stored, and not about the database.
func isAboutRecords(err error) bool {
	switch fault.KindOf(translate(err)) {
	case fault.Conflict, fault.NotFound, fault.Invalid:
		return true
	}
	return false
}

// recordFault says of one record why it could not be stored although nothing seemed to be in its way.
func recordFault(err error) error {
	switch err = translate(err); fault.KindOf(err) {
	case fault.Conflict:
		return fault.Wrap(fault.Conflict, "Another writer took the name, the key or the id at the same moment. Import the record again.", err)
	case fault.NotFound:
		return fault.Wrap(fault.NotFound, errUnknownOwner.Message, err)
	}
	return err
}

// settle finds out which records of a batch cannot be stored because of their key, a value that only one row
// may have: record i gives the row ids[i] the key keys[i]. current has the keys of the batch's rows that are
// there, and the rows that hold any of keys. It sets refused for each record whose key another row has in the end;
// those that are refused beforehand count for nothing.
//
// Keys may move in any way, since the order in which rows give them up and get them does not matter. A row
// that has a key and keeps it goes before those that want it, and among these the first record. A refused record
// leaves its row what it had, which may be in the way of others: so it is done again until nothing changes.
func settle[K comparable](ids []string, keys []K, current map[string]K, refused []bool) {
	for again := true; again; {
		again = false
		last := make(map[string]int, len(ids)) // what decides about a row
		for i, id := range ids {
			if !refused[i] {
				last[id] = i
			}
		}
		holders := make(map[K]string, len(ids))
		for id, key := range current {
			if i, moves := last[id]; !moves || keys[i] == key {
				holders[key] = id
			}
		}
		for i, id := range ids {
			if refused[i] || last[id] != i {
				continue
			}
			if holder, held := holders[keys[i]]; held && holder != id {
				refused[i], again = true, true
				continue
			}
			holders[keys[i]] = id
		}
	}
}

// leaving returns which of the rows that get new keys hold one that another of them gets: they have to give it up first.
func leaving[K comparable](current, wanted map[string]K) []string {
	takers := make(map[K]string, len(wanted))
	for id, key := range wanted {
		takers[key] = id
	}
	var ids []string
	for id := range wanted {
		key, has := current[id]
		if taker, taken := takers[key]; has && taken && taker != id {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Import implements user.Importer.
func (u *Users) Import(ctx context.Context, accounts []user.Account) ([]batch.Result, error) {
	return importBatch(ctx, u.store, usersImport, accounts, importUsers)
}

// importedUser is a user with the lists that are compared and replaced as a whole.
type importedUser struct {
	row      userRow
	services map[string]string
	stars    []string
}

func importUsers(tx *gorm.DB, accounts []user.Account) ([]batch.Result, error) {
	ids, folded := make([]string, len(accounts)), make([]string, len(accounts))
	for i, account := range accounts {
		ids[i], folded[i] = string(account.ID), account.Name.Folded()
	}
	known, err := lockImportedUsers(tx, ids)
	if err != nil {
		return nil, err
	}
	var holders []userRow
	if err := tx.Where("username_folded IN ?", folded).Find(&holders).Error; err != nil {
		return nil, err
	}
	current := make(map[string]string, len(accounts)) // id -> folded name
	for id, found := range known {
		current[id] = foldedName(found.row.Username)
	}
	for _, row := range holders {
		current[row.ID] = foldedName(row.Username)
	}
	refused := make([]bool, len(accounts))
	settle(ids, folded, current, refused)
	results, changed := make([]batch.Result, len(accounts)), make(map[string]string) // id -> folded name
	for i, account := range accounts {
		id := ids[i]
		if refused[i] {
			results[i].Err = errNameTaken
			continue
		}
		wanted := &importedUser{row: *newUserRow(account.User), services: account.Services, stars: account.Stars}
		if before, ok := known[id]; ok {
			wanted.row.CreatedAt = before.row.CreatedAt // an export does not have it
			results[i].Outcome = batch.Updated
			if wanted.row == before.row && maps.Equal(wanted.services, before.services) && slices.Equal(wanted.stars, before.stars) {
				results[i].Outcome = batch.Unchanged
				continue
			}
		}
		known[id], changed[id] = wanted, folded[i]
	}
	if err := giveUpNames(tx, known, leaving(current, changed)); err != nil {
		return nil, err
	}
	return results, storeImportedUsers(tx, known, slices.Sorted(maps.Keys(changed)))
}

// giveUpNames gives users names that nobody else has or wants, until they get their own.
func giveUpNames(tx *gorm.DB, users map[string]*importedUser, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows := make([]userRow, len(ids))
	for i, id := range ids {
		rows[i] = users[id].row
		rows[i].Username = "moving-" + rand.Text()
	}
	return upsert(tx).CreateInBatches(rows, insertRows).Error
}

// lockImportedUsers returns those of the users that are there, which nobody else can change before the
// transaction ends. Whoever locks several does it in the order of their ids.
func lockImportedUsers(tx *gorm.DB, ids []string) (map[string]*importedUser, error) {
	var (
		rows     []userRow
		services []serviceRow
		stars    []starRow
	)
	if err := forUpdate(tx).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	locked := make([]string, len(rows)) // a user who came after that is not among them, nor are its lists wanted
	for i, row := range rows {
		locked[i] = row.ID
	}
	if err := tx.Where("user_id IN ?", locked).Find(&services).Error; err != nil {
		return nil, err
	}
	if err := tx.Where("user_id IN ?", locked).Order("user_id, position, paste_id").Find(&stars).Error; err != nil {
		return nil, err
	}
	known := make(map[string]*importedUser, len(rows))
	for _, row := range rows {
		row.CreatedAt = instant(row.CreatedAt)
		known[row.ID] = &importedUser{row: row, services: make(map[string]string)}
	}
	for _, row := range services {
		known[row.UserID].services[row.Service] = row.ServiceUserID
	}
	for _, row := range stars {
		known[row.UserID].stars = append(known[row.UserID].stars, row.PasteID)
	}
	return known, nil
}

func storeImportedUsers(tx *gorm.DB, users map[string]*importedUser, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var (
		rows     []userRow
		services []serviceRow
		stars    []starRow
	)
	for _, id := range ids {
		changed := users[id]
		rows = append(rows, changed.row)
		services = append(services, newServiceRows(id, changed.services)...)
		for position, star := range changed.stars {
			stars = append(stars, starRow{UserID: id, PasteID: star, Position: position})
		}
	}
	if err := upsert(tx).CreateInBatches(rows, insertRows).Error; err != nil {
		return err
	}
	for _, list := range []any{&serviceRow{}, &starRow{}} {
		if err := tx.Where("user_id IN ?", ids).Delete(list).Error; err != nil {
			return err
		}
	}
	if len(services) > 0 {
		if err := tx.CreateInBatches(services, insertRows).Error; err != nil {
			return err
		}
	}
	if len(stars) > 0 {
		return tx.CreateInBatches(stars, insertRows).Error
	}
	return nil
}

// Import implements token.Importer.
func (t *Tokens) Import(ctx context.Context, tokens []token.Token) ([]batch.Result, error) {
	return importBatch(ctx, t.store, tokensImport, tokens, importTokens)
}

func importTokens(tx *gorm.DB, tokens []token.Token) ([]batch.Result, error) {
	ids, hashes, owners := make([]string, len(tokens)), make([]token.Hash, len(tokens)), make([]string, len(tokens))
	for i := range tokens {
		ids[i], hashes[i], owners[i] = string(tokens[i].ID), tokens[i].Hash, string(tokens[i].Owner)
	}
	exists, err := lockOwners(tx, owners)
	if err != nil {
		return nil, err
	}
	var known, holders []tokenRow
	if err := forUpdate(tx).Where("id IN ?", ids).Order("id").Find(&known).Error; err != nil {
		return nil, err
	}
	if err := tx.Where("hash IN ?", bytesOf(hashes)).Find(&holders).Error; err != nil {
		return nil, err
	}
	current := make(map[string]token.Hash, len(tokens))
	for _, row := range slices.Concat(known, holders) {
		current[row.ID] = row.token().Hash
	}
	refused := make([]bool, len(tokens))
	for i, owner := range owners {
		refused[i] = !exists[owner]
	}
	settle(ids, hashes, current, refused)
	results, stored := make([]batch.Result, len(tokens)), maps.Clone(current)
	changed, wanted := make(map[string]tokenRow), make(map[string]token.Hash)
	for i, id := range ids {
		before, known := stored[id]
		switch {
		case !exists[owners[i]]:
			results[i].Err = errUnknownOwner
			continue
		case refused[i]:
			results[i].Err = errHashTaken
			continue
		case known && before == hashes[i]:
			results[i].Outcome = batch.Unchanged
			continue
		case known:
			results[i].Outcome = batch.Updated
		}
		stored[id], wanted[id], changed[id] = hashes[i], hashes[i], *newTokenRow(tokens[i])
	}
	if err := giveUpHashes(tx, changed, leaving(current, wanted)); err != nil {
		return nil, err
	}
	return results, upsertInOrder(tx, changed)
}

// giveUpHashes gives tokens hashes that nobody else has or wants, until they get their own.
func giveUpHashes(tx *gorm.DB, tokens map[string]tokenRow, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows := make([]tokenRow, len(ids))
	for i, id := range ids {
		rows[i] = tokens[id]
		rows[i].Hash = make([]byte, len(token.Hash{}))
		_, _ = rand.Read(rows[i].Hash) // crypto/rand never returns an error
	}
	return upsert(tx).CreateInBatches(rows, insertRows).Error
}

// Import implements paste.Importer.
func (p *Pastes) Import(ctx context.Context, pastes []paste.Paste) ([]batch.Result, error) {
	return importBatch(ctx, p.store, pastesImport, pastes, importPastes)
}

func importPastes(tx *gorm.DB, pastes []paste.Paste) ([]batch.Result, error) {
	ids, owners := make([]string, len(pastes)), make([]string, 0, len(pastes))
	for i, wanted := range pastes {
		ids[i] = string(wanted.ID)
		if wanted.Owner != "" {
			owners = append(owners, string(wanted.Owner))
		}
	}
	exists, err := lockOwners(tx, owners)
	if err != nil {
		return nil, err
	}
	var rows []pasteRow
	if err := forUpdate(tx).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	known := make(map[paste.ID]paste.Paste, len(rows))
	for _, row := range rows {
		found := row.paste()
		known[found.ID] = found
	}
	results, changed := make([]batch.Result, len(pastes)), make(map[string]pasteRow, len(pastes))
	for i, wanted := range pastes {
		before, ok := known[wanted.ID]
		switch {
		case wanted.Owner != "" && !exists[string(wanted.Owner)]:
			results[i].Err = errUnknownOwner
			continue
		case ok && before == wanted:
			results[i].Outcome = batch.Unchanged
			continue
		case ok:
			results[i].Outcome = batch.Updated
		}
		known[wanted.ID], changed[ids[i]] = wanted, *newPasteRow(wanted)
	}
	return results, upsertInOrder(tx, changed)
}

// lockOwners returns which of the users exist, and will until the transaction ends.
func lockOwners(tx *gorm.DB, ids []string) (map[string]bool, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	exists := make(map[string]bool, len(ids))
	if len(ids) == 0 {
		return exists, nil
	}
	var found []string
	lock := clause.Locking{Strength: "KEY SHARE"}
	if err := tx.Clauses(lock).Model(&userRow{}).Where("id IN ?", ids).Order("id").Pluck("id", &found).Error; err != nil {
		return nil, err
	}
	for _, id := range found {
		exists[id] = true
	}
	return exists, nil
}

// upsertInOrder stores rows by their ids, in the order of these.
func upsertInOrder[T any](tx *gorm.DB, rows map[string]T) error {
	if len(rows) == 0 {
		return nil
	}
	sorted := make([]T, 0, len(rows))
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		sorted = append(sorted, rows[id])
	}
	return upsert(tx).CreateInBatches(sorted, insertRows).Error
}

func upsert(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, UpdateAll: true})
}

func foldedName(spelling string) string {
	name, err := user.ParseName(spelling)
	if err != nil {
		return spelling // the table's check rules it out
	}
	return name.Folded()
}
