package client

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/adapters/internal/filename"
)

func (c *Commands) pull() *cobra.Command {
	cmd := &cobra.Command{
		Use: "pull ID|URL", Short: "Print a paste, or write it to files",
		Long: `Print the pasties of a paste, named by its id or link. On a terminal, control characters are escaped.
With -o, write each pasty to a file named by its title, in the folder or below it. Existing files are not
overwritten. An encrypted paste is decrypted with the key in its link, which needs quotes in a shell, or with its
password; such a link never reads plain text. Before it opens a paste that burns after reading, the command asks,
unless --yes is given.`,
		Example: "  gluepot pull k3j2h1g0\n  gluepot pull https://paste.example/k3j2h1g0 -o snippets",
	}
	address := serverFlag(cmd)
	folder := cmd.Flags().StringP("output", "o", "", "`FOLDER` to write files to; created if missing")
	yes := cmd.Flags().Bool("yes", false, "open a paste that burns after reading without asking")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, id, err := c.target(*address, args[0])
		if err != nil {
			return err
		}
		_, fragment, _ := strings.Cut(args[0], "#")
		if *folder != "" { // before a paste burns
			if err := writable(*folder); err != nil {
				return err
			}
		}
		pasties, opened, err := c.fetch(cmd.Context(), s, id, fragment, *folder, *yes)
		if err != nil {
			return err
		}
		if *folder != "" {
			if err = c.write(*folder, pasties, opened); err == nil || !opened {
				return err
			}
			err = fmt.Errorf("%w. The paste is printed instead, because there is no other copy", err)
		}
		for _, p := range pasties {
			if writeErr := command.Write(c.Stdout, command.IsTerminal(c.Stdout), p.Code); writeErr != nil {
				return errors.Join(err, writeErr)
			}
		}
		return err
	}
	return cmd
}

// writable creates a folder if it is missing, and tries to create a file in it.
func writable(folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".gluepot-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// write writes each pasty to a file in the folder or below it, and prints the names. It overwrites nothing. If a file
// exists, write fails before it writes any. An opened paste exists nowhere else: write chooses another name for it.
func (c *Commands) write(folder string, pasties []pasty, opened bool) error {
	root, err := os.OpenRoot(folder) // symbolic links do not lead out of it
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // the files are closed
	names, files := make(filename.Set), make([]string, len(pasties))
	atHome := isHome(root)
	for i, p := range pasties {
		file := cmp.Or(filename.Path(p.Title), cmp.Or(filename.Safe(p.ID), fmt.Sprint("snippet-", i+1))+".txt")
		if atHome && strings.HasPrefix(file, ".") {
			return fmt.Errorf("%s would be a hidden file in your home folder, where some of them run programs: "+
				"choose another folder with -o", command.Quote(file))
		}
		files[i] = names.UniquePath(file)
		if _, err := root.Lstat(files[i]); opened || errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		return fmt.Errorf("%s already exists: choose another folder with -o", command.Quote(files[i]))
	}
	for i, p := range pasties {
		if err := root.MkdirAll(path.Dir(files[i]), 0o750); err != nil {
			return err
		}
		file, err := root.OpenFile(files[i], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		for errors.Is(err, fs.ErrExist) { // the file system may treat different names as equal
			files[i] = names.UniquePath(files[i])
			file, err = root.OpenFile(files[i], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(file, p.Code)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(c.Stdout, command.Line(files[i])); err != nil {
			return err
		}
	}
	return nil
}

// isHome reports whether a folder is the user's home folder.
func isHome(root *os.Root) bool {
	path, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	home, err := os.Stat(path)
	if err != nil {
		return false
	}
	folder, err := root.Stat(".")
	return err == nil && os.SameFile(home, folder)
}
