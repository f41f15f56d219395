// Package pgbouncer configures PgBouncer as docs/operations/ha recommends, for another server, address and user.
package pgbouncer

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// Bouncer is PgBouncer in transaction mode in front of all databases of one server.
type Bouncer struct {
	Server     *url.URL            // with the user that may connect
	Address    string              // to listen on
	Folder     string              // for its files
	Credential *syscall.Credential // the user that it runs as, who owns the files; nil is the current user
}

var (
	database = regexp.MustCompile(`(?m)^gluepot = .*$`)
	port     = regexp.MustCompile(`(?m)^listen_port = .*$`)
	users    = regexp.MustCompile(`(?m)^auth_file = .*$`)
)

// Write writes its files, based on the configuration ini, and returns the path of its own configuration.
func (b *Bouncer) Write(ini string) (path string, err error) {
	content, err := os.ReadFile(ini)
	if err != nil {
		return "", err
	}
	_, listen, err := net.SplitHostPort(b.Address)
	if err != nil {
		return "", err
	}
	path = filepath.Join(b.Folder, "pgbouncer.ini")
	list := filepath.Join(b.Folder, "userlist.txt")
	text := string(content)
	for _, line := range []struct {
		pattern *regexp.Regexp
		text    string
	}{
		{database, "* = host=" + b.Server.Hostname() + " port=" + cmp.Or(b.Server.Port(), "5432")},
		{port, "listen_port = " + listen}, {users, "auth_file = " + list},
	} {
		if !line.pattern.MatchString(text) {
			return "", fmt.Errorf("%s has no line %s", ini, line.pattern)
		}
		text = line.pattern.ReplaceAllLiteralString(text, line.text)
	}
	for _, file := range []struct{ path, text string }{
		{path, text}, {list, fmt.Sprintf("%q %q\n", b.Server.User.Username(), b.Password())},
	} {
		if err := os.WriteFile(file.path, []byte(file.text), 0o600); err != nil {
			return "", err
		}
		if b.Credential == nil {
			continue
		}
		if err := os.Chown(file.path, int(b.Credential.Uid), int(b.Credential.Gid)); err != nil {
			return "", err
		}
	}
	return path, nil
}

// Password returns the password of the server's URL, or another one if the URL has none.
func (b *Bouncer) Password() string {
	if password, ok := b.Server.User.Password(); ok {
		return password
	}
	return "change-me"
}

// Through returns the URL with which Gluepot reaches a database through it, without prepared statements, which
// PgBouncer before 1.21 does not support.
func (b *Bouncer) Through(direct string) (string, error) {
	u, err := url.Parse(direct)
	if err != nil {
		return "", err
	}
	u.Host, u.User = b.Address, url.UserPassword(b.Server.User.Username(), b.Password())
	query := u.Query()
	query.Set("sslmode", "disable")
	query.Set("default_query_exec_mode", "exec")
	u.RawQuery = query.Encode()
	return u.String(), nil
}
