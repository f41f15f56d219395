package db

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gluepot/gluepot/domain/fault"
)

// URL is a database URL. It prints without passwords, and not at all if it cannot be parsed: the password could be
// anywhere.
type URL string

// String returns the scheme, user, hosts and database.
func (u URL) String() string {
	if u.isSQLite() {
		return string(u)
	}
	parsed, err := u.parsePostgres()
	if err != nil {
		return "[unreadable database URL]"
	}
	var hosts []string
	add := func(host string, port uint16) {
		address := net.JoinHostPort(host, strconv.Itoa(int(port)))
		if strings.ContainsRune(host, '/') { // a folder of sockets
			address = url.PathEscape(host) + ":" + strconv.Itoa(int(port))
		}
		hosts = append(hosts, address)
	}
	add(parsed.ConnConfig.Host, parsed.ConnConfig.Port)
	for _, fallback := range parsed.ConnConfig.Fallbacks { // each host with and without TLS
		add(fallback.Host, fallback.Port)
	}
	return "postgres://" + url.User(parsed.ConnConfig.User).String() + "@" +
		strings.Join(slices.Compact(hosts), ",") + "/" +
		url.PathEscape(parsed.ConnConfig.Database)
}

// GoString implements fmt.GoStringer.
func (u URL) GoString() string { return u.String() }

// MarshalText implements encoding.TextMarshaler.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Validate fails for a URL that a store cannot use. The error quotes nothing of it.
func (u URL) Validate() error {
	if u.isSQLite() {
		return nil
	}
	_, err := u.parsePostgres()
	return err
}

// IsPostgres reports whether the URL is for PostgreSQL.
func (u URL) IsPostgres() bool {
	return strings.HasPrefix(string(u), "postgres://") || strings.HasPrefix(string(u), "postgresql://")
}

// parsePostgres reads a postgres:// URL. Its errors quote nothing of it. An ambiguous URL is refused: part of the
// password could be taken for the host, which errors of connecting quote.
func (u URL) parsePostgres() (*pgxpool.Config, error) {
	if !u.IsPostgres() {
		return nil, errors.New("the database URL is neither postgres://USER:PASSWORD@HOST/DATABASE nor sqlite://PATH")
	}
	_, rest, _ := strings.Cut(string(u), "://")
	if at := strings.IndexByte(rest, '@'); at >= 0 &&
		(strings.LastIndexByte(rest, '@') != at || strings.ContainsAny(rest[:at], "/?")) {
		return nil, errors.New("the database URL can be read in two ways: " +
			"within user, password and options write @ as %40, / as %2F and ? as %3F")
	}
	parsed, err := pgxpool.ParseConfig(string(u))
	if err != nil {
		if missing, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, fmt.Errorf("the database URL names a file that cannot be read: %w", missing.Err)
		}
		return nil, errors.New("the database URL is not one that PostgreSQL clients understand: write " +
			"postgres://USER:PASSWORD@HOST/DATABASE")
	}
	if strings.ContainsRune(parsed.ConnConfig.User, ':') {
		return nil, errors.New("the user in the database URL contains a colon: " +
			"between user and password it must not be written as %3A")
	}
	for _, place := range append([]*pgconn.FallbackConfig{{Host: parsed.ConnConfig.Host}},
		parsed.ConnConfig.Fallbacks...) {
		if _, err := netip.ParseAddr(place.Host); err != nil && strings.ContainsAny(place.Host, "@:") {
			return nil, errors.New("a host in the database URL has an @ or a colon in it")
		}
	}
	return parsed, nil
}

var errServer = fault.New(fault.Invalid,
	"The database is PostgreSQL, which has tools of its own for that: pg_dump, pg_restore, and "+
		"VACUUM FULL to shrink its files.")

// file returns the absolute path of an SQLite file: the process may change its working directory. It fails with
// fault.Invalid for PostgreSQL.
func (u URL) file() (string, error) {
	if !u.isSQLite() {
		return "", errServer
	}
	return filepath.Abs(strings.TrimPrefix(string(u), sqliteScheme))
}

const sqliteScheme = "sqlite://"

// isSQLite reports whether the URL is sqlite:// and a path, which has no escapes. A path that begins with
// user:password@ is refused: it is another database's URL with the wrong scheme.
func (u URL) isSQLite() bool {
	path, ok := strings.CutPrefix(string(u), sqliteScheme)
	first, _, _ := strings.Cut(path, "/")
	_, password, _ := strings.Cut(first, ":")
	return ok && path != "" && !strings.ContainsRune(path, 0) && !strings.HasSuffix(path, "/") &&
		!strings.Contains(password, "@")
}
