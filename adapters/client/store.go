package client

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// The folder gluepot in the user's configuration has a file with the server of the last login, and a folder for each
// server with its token and a file for each delete key. Separate files let commands run at the same time.

func folder() (string, error) {
	configuration, err := os.UserConfigDir()
	return filepath.Join(configuration, "gluepot"), err
}

// pathOf returns the path of a file about a server: "token", or "keys" and the id of a paste.
func (s *server) pathOf(names ...string) (string, error) {
	dir, err := folder()
	return filepath.Join(append([]string{dir, url.QueryEscape(s.String())}, names...)...), err
}

// lastServer returns the address of the server of the last login, or "".
func lastServer() (string, error) {
	dir, err := folder()
	if err != nil {
		return "", nil //nolint:nilerr // without a folder there was no login
	}
	return load(filepath.Join(dir, "server"), nil)
}

// load returns the content of a file, or "" if it does not exist.
func load(path string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(path) //nolint:gosec // save has written it
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(content)), err
}

// save replaces the content of a file, readable by its owner only. Other processes see the old file or the new one.
func save(path, text string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it fails after the rename
	_, err = file.WriteString(text + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
