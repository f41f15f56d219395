// Command manual writes gluepot's manual pages and the completions of four shells into the folders man and completions
// below its argument. The date of the pages is SOURCE_DATE_EPOCH, in seconds since 1970.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/gluepot/gluepot/bootstrap/program"
)

func main() {
	if err := write(os.Args[1:], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func write(args []string, epoch string) error {
	if len(args) != 1 {
		return errors.New("want one argument, the folder to write to")
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	man, completions := filepath.Join(args[0], "man"), filepath.Join(args[0], "completions")
	for _, folder := range []string{man, completions} {
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // everybody may read manuals
			return err
		}
	}
	root, date := program.Command(), time.Unix(seconds, 0).UTC()
	root.DisableAutoGenTag = true // it contains the date of the build
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "Gluepot", Manual: "Gluepot"}
	return errors.Join(
		doc.GenManTree(root, header, man),
		root.GenBashCompletionFileV2(filepath.Join(completions, "gluepot.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_gluepot")),
		root.GenFishCompletionFile(filepath.Join(completions, "gluepot.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "gluepot.ps1")),
	)
}
