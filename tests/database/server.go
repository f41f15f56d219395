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

// The variables that say how tests get PostgreSQL.
const (
	envWay   = "GLUEPOT_TEST_POSTGRES"       // url, container or local: demand that way
	envURL   = "GLUEPOT_TEST_DATABASE_URL"   // a server that may be used
	envImage = "GLUEPOT_TEST_POSTGRES_IMAGE" // the image for containers

	envShared = "GLUEPOT_TEST_DATABASE_SHARED" // set by Share: the server ends with the tests
)

const defaultImage = "postgres:17-alpine"

// What the start of a server may take: of any, fetching the image included, of a local one, and the answer of one that
// runs.
const (
	startTime      = 5 * time.Minute
	localStartTime = 2 * time.Minute
	urlTime        = 30 * time.Second
)

// noSync tells a server not to wait for the disk.
const noSync = "fsync=off"

// Options of the server: unsafe ones trade safety, which no test database needs, for speed.
var (
	unsafeOptions = []string{"-c", noSync, "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c",
		"max_connections=300"}
	safeOptions = []string{"-c", "max_connections=300", "-c", "max_wal_size=4GB"}
)

// cacheMiB returns the size of the cache that a server from StartServer has, in MiB: two fifths of the machine's
// memory, the most that PostgreSQL's manual recommends.
func cacheMiB() int {
	const least = 128
	return max(least, memory("MemTotal")>>10*2/5)
}

// way is one way of getting a PostgreSQL server. start returns the URL of a database on which others
// can be created, or errNotHere. Any other error is of a way that is here and does not work.
type way struct {
	name  string
	start func(ctx context.Context, options []string) (server *url.URL, stop func(), err error)
}

var errNotHere = errors.New("not available")

// StartServer starts a PostgreSQL server as the tests get theirs, for programs that are no tests, but one that keeps
// its promises: commits are on disk. Its cache is in huge pages where the machine has room for them and lets us, as one
// of that size should be (docs/SCALING.md). It returns the URL of a database on which others can be created, whether it
// has huge pages, and what stops it.
func StartServer() (server *url.URL, huge bool, stop func(), err error) {
	cache, giveBack := cacheMiB(), func() {}
	if os.Getenv(envURL) == "" {
		giveBack = reserveHugePages(hugePages, cache+cache/32+64) // it shares more than its cache
	}
	taken := hugePagesTaken()
	server, end, err := findServer(append(slices.Clone(safeOptions), "-c", fmt.Sprintf("shared_buffers=%dMB", cache)))
	if err != nil || hugePagesTaken()-taken < cache { // of a server that is not allowed to take them
		giveBack()
		return server, false, end, err
	}
	return server, true, func() { end(); giveBack() }, nil
}

// Share starts a PostgreSQL server as the tests get theirs. It returns the variables that make tests use it,
// and what stops it.
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

// findServer tries the ways in their order, or only the one that is demanded, and prints which it took. A way that is
// here and does not work, such as an engine that cannot fetch the image, is told and passed over.
func findServer(options []string) (*url.URL, func(), error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	demanded := os.Getenv(envWay)
	var tried []string
	for _, w := range []way{{"url", startURL}, {"container", startContainer}, {"local", startLocal},
		{"install", startInstalled}} {
		if demanded != "" && demanded != w.name {
			continue
		}
		server, stop, err := w.start(ctx, options)
		if err == nil {
			_, _ = fmt.Fprintf(os.Stderr, "tests use PostgreSQL by way of %s: %s\n", w.name, server.Host)
			return server, stop, nil
		}
		tried = append(tried, w.name+": "+err.Error())
		if demanded == "" && !errors.Is(err, errNotHere) {
			_, _ = fmt.Fprintf(os.Stderr, "tests do not get PostgreSQL by way of %s: %v\n", w.name, err)
		}
	}
	return nil, nil, fmt.Errorf(`no PostgreSQL for the tests (%s). Give them one of these:
  - %s=postgres://USER:PASSWORD@HOST/postgres, a server on which databases may be created
  - a Docker engine; the image is %s, or what %s names
  - PostgreSQL's server binaries on this machine (Debian: apt-get install postgresql; as root, they do it themselves)
%s=url, container, local or install demands one of them`,
		strings.Join(tried, "; "), envURL, defaultImage, envImage, envWay)
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
		server.Host = net.JoinHostPort(server.Hostname(), "5432") // for what connects by itself, as proxies do
	}
	db, err := sql.Open("pgx", value)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", envURL, err)
	}
	defer db.Close() //nolint:errcheck // it was only asked
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

// HasContainers reports whether PostgreSQL can be started in a container here: there are an engine and the image. Where
// not, it says so on standard error, or fails the test if containers are demanded.
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

// findImage fails with errNotHere if there is no engine, and with another error if it cannot get the image.
func findImage(ctx context.Context) (err error) {
	defer func() { // testcontainers panics where no engine is to be found
		if r := recover(); r != nil {
			err = fmt.Errorf("%v (%w)", r, errNotHere)
		}
	}()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return fmt.Errorf("no Docker engine (%w)", errNotHere)
	}
	defer provider.Close() //nolint:errcheck // nothing was done with it
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

// Where a container has its data: elsewhere than the image says, which may be a volume.
const (
	containerFolder = "/var/lib/gluepot"
	containerData   = containerFolder + "/data"
)

// localScript runs a server until its standard input ends, which it does when this process ends, however that happens,
// and then removes its folder, unless it read keepFolder before. $1 is the folder; the rest is the server.
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

// startInstalled installs PostgreSQL's binaries, where that can be done without asking anybody, and starts them.
func startInstalled(ctx context.Context, options []string) (*url.URL, func(), error) {
	if err := install(ctx); err != nil {
		return nil, nil, err
	}
	return startLocal(ctx, options)
}

// install installs Debian's packages of PostgreSQL, unless there are binaries.
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

// scratch returns the folder for a server with those options; empty stands for that of temporary files. One that does
// not wait for the disk needs none, and creates databases several times as fast in memory.
func scratch(options []string) string {
	const (
		memory = "/dev/shm"
		enough = 4 << 30 // bytes; in a container there are often 64 MiB only
	)
	var free syscall.Statfs_t
	if !slices.Contains(options, noSync) || syscall.Statfs(memory, &free) != nil ||
		free.Bavail*uint64(free.Bsize) < enough {
		return ""
	}
	return memory
}

// initLocal returns a server in that folder that is not started yet and has nothing in it.
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

// local is a server made of the machine's own binaries, in a folder of its own.
type local struct {
	bin, folder string
	credential  *syscall.Credential // whom to run it as
	port        int                 // zero: any that is free
	keep        bool                // the folder, when the server does not start
	abandon     func()              // ends the server, if it still runs, and keeps the folder
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

// command is one of PostgreSQL's programs, run as the server's user.
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
	// an interrupt of the tests must reach it by its standard input only
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
		real, err := filepath.EvalSymlinks(path) // the other binaries stand beside the real one
		return filepath.Dir(real), err
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well-formed
	if len(found) == 0 {
		return "", fmt.Errorf("no initdb (%w)", errNotHere)
	}
	sort.Slice(found, func(i, j int) bool { return majorVersion(found[i]) > majorVersion(found[j]) })
	return filepath.Dir(found[0]), nil
}

func majorVersion(initdb string) int {
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return version
}

// serverCredential returns the user to run the server as and gives it the folder: PostgreSQL refuses
// to run as root. nil stands for the current user.
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
