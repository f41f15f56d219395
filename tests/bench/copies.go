package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// copies measures how many pastes without content "gluepot copy" copies in a second from SQLite to PostgreSQL and back,
// including the final comparison of both sides.
func (b *bench) copies(pastes int) error {
	const floor, memory = 15_000, 100
	rateName, peakName := fmt.Sprintf("copy of %d pastes, %%s, pastes/s", pastes),
		"peak resident memory of a copy, %s, MiB"
	ways := []string{"SQLite to PostgreSQL", "PostgreSQL to SQLite"}
	if !b.wants(fmt.Sprintf(rateName, ways[0]), fmt.Sprintf(rateName, ways[1]), fmt.Sprintf(peakName, ways[0]),
		fmt.Sprintf(peakName, ways[1])) {
		return nil
	}
	source := filepath.Join(b.folder, "source.db")
	if err := b.fillSource(source, pastes); err != nil {
		return err
	}
	postgres, err := b.createDatabase("copied")
	if err != nil {
		return err
	}
	for _, way := range []struct{ name, from, to string }{
		{ways[0], "sqlite://" + source, postgres.String()},
		{ways[1], postgres.String(), "sqlite://" + filepath.Join(b.folder, "returned.db")},
	} {
		command := exec.Command(b.gluepot, "copy", "--json", "--from", way.from, "--to", way.to)
		command.Dir = b.folder
		var out, failure bytes.Buffer
		command.Stdout, command.Stderr = &out, &failure
		start := time.Now()
		if err := command.Start(); err != nil {
			return err
		}
		peakMiB := watchPeak(command.Process.Pid)
		if err := command.Wait(); err != nil {
			return fmt.Errorf("copy: %w: %s", err, &failure)
		}
		perSecond, mib := float64(pastes)/time.Since(start).Seconds(), <-peakMiB
		if err := checkCopy(&out, pastes); err != nil {
			return err
		}
		b.add(row{Name: fmt.Sprintf(rateName, way.name), Ratio: perSecond, Floor: floor})
		b.add(row{Name: fmt.Sprintf(peakName, way.name), Ratio: mib, Floor: memory, atMost: true})
	}
	return nil
}

// fillSource creates an embedded database of pastes whose ids are in no order. Two thirds have owners, and half expire.
func (b *bench) fillSource(path string, pastes int) error {
	return b.createSQLite(path,
		numbers(1000)+`INSERT INTO users (id, username, avatar_url, default_language,
				public_profile, supporter_months, contributor, created_at)
			SELECT printf('u%07d', n), 'user' || n, '', 'Go', true, 0, false, n FROM n`,
		numbers(pastes)+fmt.Sprintf(`INSERT INTO pastes (`+pasteColumns+`)
			SELECT printf('%%08d', n * %d %% %d), CASE WHEN n %% 3 > 0 THEN printf('u%%07d', n %% 1000 + 1) END, n * 1000000,
			CASE WHEN n %% 2 > 0 THEN 4000000000000000 + n END, 0, `+emptyPaste+` FROM n`, idFactor, idModulus),
	)
}

// checkCopy checks that the output of a copy says that both sides have all pastes.
func checkCopy(out *bytes.Buffer, pastes int) error {
	largest := int64(0)
	for decoder := json.NewDecoder(out); decoder.More(); {
		var table struct{ SourceRows, TargetRows int64 }
		if err := decoder.Decode(&table); err != nil {
			return err
		}
		if table.SourceRows != table.TargetRows {
			return fmt.Errorf("got %d rows of a table on one side and %d on the other, want the same", table.SourceRows,
				table.TargetRows)
		}
		largest = max(largest, table.TargetRows)
	}
	if largest != int64(pastes) {
		return fmt.Errorf("got %d copied pastes, want %d", largest, pastes)
	}
	return nil
}
