package sqlitefile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// datedName is the name of a backup in a folder of them, in UTC. Names sort by time.
const datedName = "gluepot-20060102T150405.000Z.db"

var isDated = regexp.MustCompile(`^gluepot-\d{8}T\d{6}\.\d{3}Z\.db$`)

// BackupDated writes a backup, as Backup does, to a new file in a folder, and returns its path. If that succeeds, it
// removes the oldest of its backups of this database in the folder until keep are left, and returns their paths. It
// does not touch other files, or backups of other databases.
func BackupDated(
	ctx context.Context, file, folder string, keep int, patience time.Duration,
) (path string, removed []string, err error) {
	path = filepath.Join(folder, time.Now().UTC().Format(datedName))
	if err := Backup(ctx, file, path, patience); err != nil {
		return "", nil, err
	}
	uid, err := uidOf(ctx, path)
	if err != nil {
		return path, nil, err
	}
	entries, err := os.ReadDir(folder) // sorted
	if err != nil {
		return path, nil, fileFault(folder, err)
	}
	var others []string
	for _, entry := range entries {
		other := filepath.Join(folder, entry.Name())
		if other == path || !isDated.MatchString(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		if otherUID, err := uidOf(ctx, other); err == nil && otherUID == uid {
			others = append(others, other)
		}
	}
	for _, other := range others[:max(0, len(others)-keep+1)] {
		if err := os.Remove(other); err != nil {
			return path, removed, fault.Wrap(fault.Unavailable, fmt.Sprintf("Cannot remove %s.", other), err)
		}
		removed = append(removed, other)
	}
	return path, removed, nil
}

// uidOf returns the uid of the database in a backup.
func uidOf(ctx context.Context, path string) (uid string, err error) {
	db, err := Open(path, "ro&immutable=1", 0)
	if err != nil {
		return "", err
	}
	defer db.Close() //nolint:errcheck // it was only read
	err = db.QueryRowContext(ctx, "SELECT uid FROM installation").Scan(&uid)
	return uid, err
}
