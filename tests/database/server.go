package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	tcpostgres "github.com/testcontainers/testcontainers-go/modules/postgres"

	"github.com/gluepot/gluepot/tests/freeport"
)

// The environment variables that say how tests get PostgreSQL.
const (
	envWay   = "GLUEPOT_TEST_POSTGRES"       // url, container or local: demand that way
	envURL   = "GLUEPOT_TEST_DATABASE_URL"   // a server that may be used
	envImage = "GLUEPOT_TEST_POSTGRES_IMAGE" // the image for containers

	envShared = "GLUEPOT_TEST_DATABASE_SHARED" // set by Share: the server ends with the tests
)

const defaultImage = "postgres:17-alpine"

const (
	startTime      = 5 * time.Minute  // for any server to start, including the download of an image
	localStartTime = 2 * time.Minute  // for a local server to start
	urlTime        = 30 * time.Second // for a running server to answer
)

// noSync tells a server not to wait for the disk.
const noSync = "fsync=off"

// Options of the server. The unsafe ones trade durability, which tests do not need, for speed.
var (
	unsafeOptions = []string{"-c", noSync, "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c",
		"max_connections=300"}
	safeOptions = []string{"-c", "max_connections=300", "-c", "max_wal_size=4GB"}
)

// cacheMiB returns the size of the cache of a server from StartServer, in MiB: two fifths of the machine's memory, the
// most that PostgreSQL's manual recommends.
func cacheMiB() int {
	const least = 128
	return max(least, memory("MemTotal")>>10*2/5)
}

// way is a way of getting a PostgreSQL server. start returns the URL of a database on which others can be created. It
// fails with errNotHere if the machine does not offer this way, and with another error if it offers it but fails.
type way struct {
	name  string
	start func(ctx context.Context, options []string) (server *url.URL, stop func(), err error)
}

var errNotHere = errors.New("not available")

// StartServer starts a PostgreSQL server in the same ways as for tests, for other programs. It is durable: commits are
// on disk. Its cache is in huge pages if the machine has room for them and allows it, as a cache of that size should be
// (docs/SCALING.md). It returns the URL of a database on which others can be created, whether the server has huge
// pages, and a function that stops it.
func StartServer() (server *url.URL, huge bool, stop func(), err error) {
	cache, giveBack := cacheMiB(), func() {}
	if os.Getenv(envURL) == "" {
		giveBack = reserveHugePages(hugePages, cache+cache/32+64) // it shares more than its cache
	}
	before := hugePagesInUse()
	server, end, err := findServer(append(slices.Clone(safeOptions), "-c", fmt.Sprintf("shared_buffers=%dMB", cache)))
	if err != nil || hugePagesInUse()-before < cache { // the server may not use them
		giveBack()
		return server, false, end, err
	}
	return server, true, func() { end(); giveBack() }, nil
}

// Share starts a PostgreSQL server for several test programs. It returns the environment variables that make them use
// it, and a function that stops it.
func Share() (variables []string, stop func(), err error) {
	server, stop, err := findServer(unsafeOptions)
	if err != nil {
		return nil, nil, err
	}
	variables = []string{envWay + "=url", envURL + "=" + server.String()}
	if os.Getenv(envURL) == "" {
		variables = append(variables, envShared+"=true")
	}
	return variables, stop, nil
}

// findServer tries each way in order, or only the one that is demanded, and prints which it took. It prints why a way
// failed that the machine offers, such as an engine that cannot pull the image, and tries the next one.
func findServer(options []string) (*url.URL, func(), error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	demand := os.Getenv(envWay)
	var failures []string
	for _, w := range []way{{"url", startURL}, {"container", startContainer}, {"local", startLocal},
		{"install", startInstalled}} {
		if demand != "" && demand != w.name {
			continue
		}
		server, stop, err := w.start(ctx, options)
		if err == nil {
			_, _ = fmt.Fprintf(os.Stderr, "tests use PostgreSQL by way of %s: %s\n", w.name, server.Host)
			return server, stop, nil
		}
		failures = append(failures, w.name+": "+err.Error())
		if demand == "" && !errors.Is(err, errNotHere) {
			_, _ = fmt.Fprintf(os.Stderr, "tests do not get PostgreSQL by way of %s: %v\n", w.name, err)
		}
	}
	return nil, nil, fmt.Errorf(`no PostgreSQL for the tests (%s). Give them one of these:
  - %s=postgres://USER:PASSWORD@HOST/postgres, a server on which databases may be created
  - a Docker engine; the image is %s, or what %s names
  - PostgreSQL's server binaries on this machine (Debian: apt-get install postgresql; as root, they do it themselves)
%s=url, container, local or install demands one of them`,
		strings.Join(failures, "; "), envURL, defaultImage, envImage, envWay)
}

func startURL(ctx context.Context, _ []string) (*url.URL, func(), error) {
	value := os.Getenv(envURL)
	if value == "" {
		return nil, nil, fmt.Errorf("%s is not set (%w)", envURL, errNotHere)
	}
	server, err := url.Parse(value)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is not a URL", envURL)
	}
	if server.Host != "" && server.Port() == "" {
		server.Host = net.JoinHostPort(server.Hostname(), "5432") // proxies need the port
	}
	db, err := sql.Open("pgx", value)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", envURL, err)
	}
	defer db.Close() //nolint:errcheck // it was only pinged
	ctx, cancel := context.WithTimeout(ctx, urlTime)
	defer cancel()
	return server, func() {}, db.PingContext(ctx)
}

func startContainer(ctx context.Context, options []string) (*url.URL, func(), error) {
	container, stop, err := runContainer(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	server, err := urlOf(ctx, container)
	if err != nil {
		stop()
	}
	return server, stop, err
}

// HasContainers reports whether PostgreSQL can run in a container here, which needs an engine and the image. If not, it
// prints why, or fails the test if containers are demanded.
func HasContainers(tb testing.TB) bool {
	tb.Helper()
	err := findImage(tb.Context())
	if err == nil {
		return true
	}
	if os.Getenv(envWay) == "container" {
		tb.Fatal(err)
	}
	_, _ = fmt.Fprintf(os.Stderr, "not run, as it needs a container: part of %s: %v\n", tb.Name(), err)
	return false
}

// findImage pulls the image if necessary. It fails with errNotHere without an engine, and with another error if it
// cannot get the image.
func findImage(ctx context.Context) (err error) {
	defer func() { // testcontainers panics if it finds no engine
		if r := recover(); r != nil {
			err = fmt.Errorf("%v (%w)", r, errNotHere)
		}
	}()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return fmt.Errorf("no Docker engine (%w)", errNotHere)
	}
	defer provider.Close() //nolint:errcheck // it was only read from
	if err := provider.Health(ctx); err != nil {
		return fmt.Errorf("no Docker engine (%w)", errNotHere)
	}
	if _, err := provider.Client().ImageInspect(ctx, containerImage()); err == nil {
		return nil
	}
	return provider.PullImage(ctx, containerImage())
}

// containerImage returns the image for containers.
func containerImage() string { return cmp.Or(os.Getenv(envImage), defaultImage) }

// runContainer starts a container with a server.
func runContainer(ctx context.Context, options []string) (_ *tcpostgres.PostgresContainer, _ func(), err error) {
	if err := findImage(ctx); err != nil {
		return nil, nil, err
	}
	customizers := []testcontainers.ContainerCustomizer{
		tcpostgres.WithDatabase("postgres"), tcpostgres.WithUsername("gluepot"), tcpostgres.WithPassword("gluepot"),
		tcpostgres.BasicWaitStrategies(),
		testcontainers.WithCmdArgs(options...),
	}
	if slices.Contains(options, noSync) { // in memory, as in scratch
		customizers = append(customizers, testcontainers.WithTmpfs(map[string]string{containerFolder: "rw"}),
			testcontainers.WithEnv(map[string]string{"PGDATA": containerData}))
	}
	container, err := tcpostgres.Run(ctx, containerImage(), customizers...)
	stop := func() { _ = testcontainers.TerminateContainer(container, testcontainers.StopTimeout(0)) }
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("start a container of %s: %w", containerImage(), err)
	}
	return container, stop, nil
}

// urlOf returns the URL of a database on which others can be created.
func urlOf(ctx context.Context, container *tcpostgres.PostgresContainer) (*url.URL, error) {
	connection, err := container.ConnectionString(ctx, "sslmode=disable")
	if err != nil {
		return nil, err
	}
	return url.Parse(connection)
}

// The folders of a container's data. They differ from the image's, which may be a volume.
const (
	containerFolder = "/var/lib/gluepot"
	containerData   = containerFolder + "/data"
)

// localScript runs a server until standard input ends, which happens however this process ends. Then it removes the
// server's folder, unless it read keepFolder. $1 is the folder; the other arguments are the server's command.
const localScript = `folder=$1; shift; "$@" >>"$folder/log" 2>&1 & server=$!
read -r keep; kill -QUIT $server; wait $server; [ "$keep" ] || rm -rf "$folder"`

const keepFolder = "keep\n"

func startLocal(ctx context.Context, options []string) (*url.URL, func(), error) {
	l, err := initLocal(ctx, scratch(options))
	if err != nil {
		return nil, nil, err
	}
	return l.start(ctx, options)
}

// startInstalled installs PostgreSQL's binaries, if that is possible without interaction, and starts a server.
func startInstalled(ctx context.Context, options []string) (*url.URL, func(), error) {
	if err := install(ctx); err != nil {
		return nil, nil, err
	}
	return startLocal(ctx, options)
}

// install installs Debian's packages of PostgreSQL, unless the machine has binaries.
func install(ctx context.Context) error {
	if _, err := findBinaries(); !errors.Is(err, errNotHere) {
		return err
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("not root on a Debian machine (%w)", errNotHere)
	}
	_, _ = fmt.Fprintln(os.Stderr, "tests install PostgreSQL: apt-get install postgresql")
	for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "postgresql"}} {
		apt := exec.CommandContext(ctx, "apt-get", args...)
		apt.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := apt.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// scratch returns the folder for a server with these options, or "" for the default folder of temporary files. A server
// that does not wait for the disk creates databases several times as fast in memory.
func scratch(options []string) string {
	const (
		memory = "/dev/shm"
		enough = 4 << 30 // bytes; containers often have only 64 MiB
	)
	var free syscall.Statfs_t
	if !slices.Contains(options, noSync) || syscall.Statfs(memory, &free) != nil ||
		free.Bavail*uint64(free.Bsize) < enough {
		return ""
	}
	return memory
}

// initLocal returns an empty server in a new folder below parent. It does not start it.
func initLocal(ctx context.Context, parent string) (*local, error) {
	l, err := newLocal(parent)
	if err != nil {
		return nil, err
	}
	initdb := l.command(ctx, "initdb", "-D", l.data(), "-U", "gluepot", "--auth=trust", "--encoding=UTF8",
		"--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return l, nil
}

// local is a server of the machine's own binaries, in its own folder.
type local struct {
	bin, folder string
	credential  *syscall.Credential // the user to run it as
	port        int                 // zero for any free one
	keep        bool                // keep the folder if the server does not start
	abandon     func()              // stops the server, if it runs, and keeps the folder
}

func newLocal(parent string) (*local, error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(parent, "gluepot-postgres-")
	if err != nil {
		return nil, err
	}
	credential, err := serverCredential(folder)
	return &local{bin: bin, folder: folder, credential: credential}, err
}

func (l *local) data() string { return filepath.Join(l.folder, "data") }

// command returns a command that runs one of PostgreSQL's programs as the server's user.
func (l *local) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return l.run(ctx, filepath.Join(l.bin, name), args...)
}

func (l *local) run(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = l.folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: l.credential}
	return cmd
}

// start starts the server on the data in its folder and waits until it answers.
func (l *local) start(ctx context.Context, options []string) (*url.URL, func(), error) {
	if l.port == 0 {
		port, err := freeport.Find(ctx)
		if err != nil {
			return nil, nil, err
		}
		l.port = port
	}
	port := strconv.Itoa(l.port)
	args := append([]string{
		"-c", localScript, "sh", l.folder, filepath.Join(l.bin, "postgres"), "-D", l.data(), "-p", port,
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + l.folder,
	}, options...)
	script := l.run(context.Background(), "sh", args...) // it outlives ctx
	// An interrupt of the tests must reach it only through its standard input.
	script.SysProcAttr.Setpgid = true
	alive, err := script.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := script.Start(); err != nil {
		return nil, nil, err
	}
	var once sync.Once
	stop := func() {
		once.Do(func() {
			_ = alive.Close()
			_ = script.Wait()
		})
	}
	l.abandon = func() {
		_, _ = io.WriteString(alive, keepFolder)
		stop()
	}
	server := &url.URL{
		Scheme: "postgres", User: url.User("gluepot"), Host: net.JoinHostPort("127.0.0.1", port), Path: "/postgres",
		RawQuery: "sslmode=disable",
	}
	ctx, cancel := context.WithTimeout(ctx, localStartTime)
	defer cancel()
	var failure error
	for ctx.Err() == nil {
		if failure = l.command(ctx, "pg_isready", "-q", "-h", "127.0.0.1", "-p", port,
			"-U", "gluepot").Run(); failure == nil {
			return server, stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(l.folder, "log"))
	if l.keep {
		l.abandon()
	} else {
		stop()
	}
	return nil, nil, fmt.Errorf("the local PostgreSQL server did not start: %w: %s", failure, log)
}

func findBinaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		real, err := filepath.EvalSymlinks(path) // the other binaries are beside it
		return filepath.Dir(real), err
	}
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well-formed
	if len(paths) == 0 {
		return "", fmt.Errorf("no initdb (%w)", errNotHere)
	}
	sort.Slice(paths, func(i, j int) bool { return majorVersion(paths[i]) > majorVersion(paths[j]) })
	return filepath.Dir(paths[0]), nil
}

func majorVersion(initdb string) int {
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return version
}

// serverCredential returns the user to run a server as, and makes the folder belong to that user: PostgreSQL refuses to
// run as root. nil stands for the current user.
func serverCredential(folder string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // see above
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if uidErr != nil || gidErr != nil {
			continue
		}
		if err := os.Chown(folder, int(uid), int(gid)); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}
