package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// copies measures how many pastes without content a second "gluepot copy" brings from SQLite to PostgreSQL and back,
// the comparison of both sides at its end included.
func (b *bench) copies(pastes int) error {
	const floor, memory = 15_000, 100
	rate, peak := fmt.Sprintf("copy of %d pastes, %%s, pastes/s", pastes), "peak resident memory of a copy, %s, MiB"
	ways := []string{"SQLite to PostgreSQL", "PostgreSQL to SQLite"}
	if !b.wants(fmt.Sprintf(rate, ways[0]), fmt.Sprintf(rate, ways[1]), fmt.Sprintf(peak, ways[0]),
		fmt.Sprintf(peak, ways[1])) {
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
		began := time.Now()
		if err := command.Start(); err != nil {
			return err
		}
		most := watchPeak(command.Process.Pid)
		if err := command.Wait(); err != nil {
			return fmt.Errorf("copy: %w: %s", err, &failure)
		}
		perSecond, mib := float64(pastes)/time.Since(began).Seconds(), <-most
		if err := checkCopied(&out, pastes); err != nil {
			return err
		}
		b.add(row{Name: fmt.Sprintf(rate, way.name), Ratio: perSecond, Floor: floor})
		b.add(row{Name: fmt.Sprintf(peak, way.name), Ratio: mib, Floor: memory, atMost: true})
	}
	return nil
}

// fillSource makes an embedded database of pastes in no order. Two thirds have owners, and half expire.
func (b *bench) fillSource(path string, pastes int) error {
	return b.embedded(path,
		numbers(1000)+`INSERT INTO users (id, username, avatar_url, default_language,
				public_profile, supporter_months, contributor, created_at)
			SELECT printf('u%07d', n), 'user' || n, '', 'Go', true, 0, false, n FROM n`,
		numbers(pastes)+fmt.Sprintf(`INSERT INTO pastes (`+pasteColumns+`)
			SELECT printf('%%08d', n * %d %% %d), CASE WHEN n %% 3 > 0 THEN printf('u%%07d', n %% 1000 + 1) END, n * 1000000,
			CASE WHEN n %% 2 > 0 THEN 4000000000000000 + n END, 0, `+emptyPaste+` FROM n`, idFactor, idModulus),
	)
}

// checkCopied wants all pastes on both sides of what a copy has printed.
func checkCopied(out *bytes.Buffer, pastes int) error {
	most := int64(0)
	for decoder := json.NewDecoder(out); decoder.More(); {
		var table struct{ SourceRows, TargetRows int64 }
		if err := decoder.Decode(&table); err != nil {
			return err
		}
		if table.SourceRows != table.TargetRows {
			return fmt.Errorf("a table has %d rows on one side and %d on the other", table.SourceRows, table.TargetRows)
		}
		most = max(most, table.TargetRows)
	}
	if most != int64(pastes) {
		return fmt.Errorf("%d pastes were copied, not %d", most, pastes)
	}
	return nil
}
