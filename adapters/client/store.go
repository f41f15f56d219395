package client

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// What is kept stands in a folder of the user's configuration: the file server names the server of the last login, and each server
// has a folder with its token and with a file for each delete key. So two commands at once do not get in each other's way, and no
// server can be taken for another.

func folder() (string, error) {
	configuration, err := os.UserConfigDir()
	return filepath.Join(configuration, "gluepot"), err
}

// pathOf returns the path of a file about a server.
func (s *server) pathOf(names ...string) (string, error) {
	kept, err := folder()
	return filepath.Join(append([]string{kept, url.QueryEscape(s.String())}, names...)...), err
}

func (s *server) pathOfToken() (string, error)        { return s.pathOf("token") }
func (s *server) pathOfKey(id string) (string, error) { return s.pathOf("keys", id) }

// lastServer returns the address of the server of the last login, or "".
func lastServer() (string, error) {
	kept, err := folder()
	if err != nil { // there is no folder that could have it
		return "", nil //nolint:nilerr // as above
	}
	return load(filepath.Join(kept, "server"), nil)
}

// load returns what a file holds, or "" if it is not there.
func load(path string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(path) //nolint:gosec // it is one of those that save has written
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(content)), err
}

// save makes a text all that a file holds, which only its owner may read. Another process finds the old file or the new one.
func save(path, text string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // once it is renamed there is none
	_, err = file.WriteString(text + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
