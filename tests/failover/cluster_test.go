package failover

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/freeport"
)

// settlingTime is how long the cluster may take to come up, or back to three servers.
const settlingTime = 3 * time.Minute

// cluster is three hosts on one machine, each with etcd, Patroni and PostgreSQL, and HAProxy before them. They run on
// the files of docs/operations/ha, with this machine's addresses and folders in the place of those there.
type cluster struct {
	folder     string
	bin        string // PostgreSQL's programs
	credential *syscall.Credential
	members    []*member
	proxy      string // HAProxy's address of the primary
	readProxy  string // and of the replicas
}

type member struct {
	*cluster
	name                         string // as in the files
	postgres, rest, client, peer string // addresses
	etcd, patroni                *process
}

// guardScript ends whatever is left of a cluster when its standard input ends, which it does with the process of the
// tests however that ends, and removes the cluster's folder.
const guardScript = `cd "$1" && read -r end; for pid in $(cat pids) $(head -qn1 db*/data/postmaster.pid); do
kill -CONT $pid; kill -KILL $pid; done 2>/dev/null; sleep 1; cd / && rm -rf "$1"`

// startCluster starts all of it and waits until two servers follow the third.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	for _, name := range []string{"etcd", "patroni", "haproxy"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("this test needs %s (Debian: apt-get install patroni etcd-server haproxy): %v", name, err)
		}
	}
	c := newCluster(t)
	for i := range 3 {
		c.members = append(c.members, &member{
			cluster: c, name: fmt.Sprint("db", i+1),
			postgres: freeport.Address(t), rest: freeport.Address(t), client: freeport.Address(t), peer: freeport.Address(t),
		})
	}
	c.proxy, c.readProxy = freeport.Address(t), freeport.Address(t)
	for _, m := range c.members {
		m.startEtcd(t)
	}
	for _, m := range c.members {
		m.startPatroni(t)
	}
	c.start(t, "haproxy", nil, "haproxy", "-db", "-f", c.render(t, "haproxy.cfg", nil))
	c.waitUntilWhole(t)
	return c
}

// newCluster returns one without members.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	bin, err := database.Binaries()
	if err != nil {
		t.Fatalf("this test needs PostgreSQL's server binaries on this machine (Debian: apt-get install postgresql): %v", err)
	}
	folder, err := os.MkdirTemp("", "gluepot-failover-")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{folder: folder, bin: bin}
	if c.credential, err = database.ServerUser(folder); err != nil {
		t.Fatal(err)
	}
	guard := exec.Command("sh", "-c", guardScript, "sh", folder)
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the tests is not for it
	alive, err := guard.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.note(t, 0)
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.showLogs(t)
		}
		for _, m := range c.members {
			_ = database.SignalServer(m.data(), syscall.SIGKILL) // children that are stopped do not see its end
		}
		_ = alive.Close()
		_ = guard.Wait()
	})
	return c
}

// showLogs shows the end of what each program has logged.
func (c *cluster) showLogs(t *testing.T) {
	t.Helper()
	const enough = 4 << 10
	paths, _ := filepath.Glob(filepath.Join(c.folder, "*.log")) // the pattern is well-formed
	for _, path := range paths {
		if log, err := os.ReadFile(path); err == nil {
			t.Logf("%s:\n%s", filepath.Base(path), log[max(0, len(log)-enough):])
		}
	}
}

// note writes down a process for the guard.
func (c *cluster) note(t *testing.T, pid int) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(c.folder, "pids"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it has been written
	if pid > 0 {
		_, _ = fmt.Fprintln(file, pid)
	}
}

// process is a program of the cluster.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// start runs a program as the server's user. Its output goes to a file of that name.
func (c *cluster) start(t *testing.T, name string, environment []string, program string, args ...string) *process {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(c.folder, name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // the process has its own
	p := &process{cmd: exec.Command(program, args...), exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = c.folder, log, log
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.folder, "LC_ALL=C.UTF-8"}, environment...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.credential, Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.note(t, p.cmd.Process.Pid)
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

func (m *member) data() string { return filepath.Join(m.folder, m.name, "data") }

func (m *member) startEtcd(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(m.render(t, "etcd.env", m))
	if err != nil {
		t.Fatal(err)
	}
	var environment []string
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "ETCD_") {
			environment = append(environment, strings.TrimSpace(line))
		}
	}
	m.etcd = m.start(t, "etcd-"+m.name, environment, "etcd")
}

func (m *member) startPatroni(t *testing.T) {
	t.Helper()
	m.patroni = m.start(t, "patroni-"+m.name, nil, "patroni", m.render(t, "patroni.yml", m))
}

// patronictl runs one of its commands.
func (c *cluster) patronictl(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "patronictl",
		append([]string{"-c", filepath.Join(c.folder, "db1", "patroni.yml")}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANG=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("patronictl %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

var hostAndPort = regexp.MustCompile(`db([1-3]):(5432 port 8008|5432|8008|2379|2380)`)

// render writes a file of docs/operations/ha with this machine's addresses and folders, for one member or for nobody's,
// and returns its path.
func (c *cluster) render(t *testing.T, name string, of *member) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../docs/operations/ha", name))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(c.folder, "shared")
	if of != nil {
		folder = filepath.Join(c.folder, of.name)
	}
	var rendered strings.Builder
	for line := range strings.Lines(string(content)) {
		if own := strings.Contains(line, "# this host") || name == "etcd.env" &&
			!strings.Contains(line, "db2"); own && of != nil {
			line = strings.ReplaceAll(line, "db1", of.name)
		}
		line = hostAndPort.ReplaceAllStringFunc(line, c.address)
		if strings.HasPrefix(line, "  data_dir:") { // the socket's default folder needs rights, and only processes are killed
			line += fmt.Sprintf("  parameters: {unix_socket_directories: %q, fsync: off}\n", c.folder)
		}
		rendered.WriteString(line)
	}
	text := strings.NewReplacer(
		"127.0.0.1:5000", c.proxy, "127.0.0.1:5001", c.readProxy, "10.0.0.0/8", "127.0.0.1/32",
		"/usr/lib/postgresql/15/bin", c.bin,
		"/var/lib/postgresql/15/gluepot", folder+"/data", "/var/lib/postgresql/gluepot.pgpass", folder+"/pgpass",
		"/var/lib/etcd/gluepot", folder+"/etcd",
	).Replace(rendered.String())
	path := filepath.Join(folder, name)
	err = os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	for _, owned := range []string{folder, path} {
		if err == nil && c.credential != nil {
			err = os.Chown(owned, int(c.credential.Uid), int(c.credential.Gid))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// address returns what stands for an address of the files on this machine.
func (c *cluster) address(written string) string {
	host, service, _ := strings.Cut(written, ":")
	number, _ := strconv.Atoi(strings.TrimPrefix(host, "db"))
	m := c.members[number-1]
	switch service {
	case "5432":
		return m.postgres
	case "8008":
		return m.rest
	case "2379":
		return m.client
	case "2380":
		return m.peer
	}
	return m.postgres + " port " + port(m.rest) // HAProxy's
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// ask asks a member's server as its superuser.
func (m *member) ask(query string, into ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, "postgres://postgres:change-me@"+m.postgres+"/postgres?application_name=test")
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // it was only asked
	if into == nil {
		_, err = conn.Exec(ctx, query)
		return err
	}
	return conn.QueryRow(ctx, query).Scan(into...)
}

// isPrimary reports whether a member's server is one, in its own opinion.
func (m *member) isPrimary() bool {
	primary := false
	return m.ask("SELECT NOT pg_is_in_recovery()", &primary) == nil && primary
}

// leader returns the member that Patroni says is the primary, or nil.
func (c *cluster) leader() *member {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, m := range c.members {
		response, err := client.Get("http://" + m.rest + "/primary")
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return m
		}
	}
	return nil
}

// waitUntilWhole waits until two servers follow the primary, one of them in step, and returns the primary.
func (c *cluster) waitUntilWhole(t *testing.T) *member {
	t.Helper()
	var leader *member
	within(t, settlingTime, "two servers follow the primary", func() bool {
		var following, inStep int
		if leader = c.leader(); leader == nil {
			return false
		}
		err := leader.ask(`SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) FROM pg_stat_replication
			WHERE state = 'streaming' AND replay_lsn IS NOT NULL AND replay_lag IS NULL
				OR replay_lag < '5s'`, &following, &inStep)
		return err == nil && following == len(c.members)-1 && inStep > 0
	})
	return leader
}

// waitForPrimary waits until a server other than those is a primary, and returns when it was.
func (c *cluster) waitForPrimary(t *testing.T, others ...*member) (became time.Time) {
	t.Helper()
	within(t, settlingTime, "another server is the primary", func() bool {
		for _, m := range c.members {
			if slices.Contains(others, m) {
				continue
			}
			if m.isPrimary() {
				became = time.Now()
				return true
			}
		}
		return false
	})
	return became
}

// etcdLeader returns the member whose etcd leads the others.
func (c *cluster) etcdLeader(t *testing.T) (leader *member) {
	t.Helper()
	within(t, settlingTime, "etcd has a leader", func() bool {
		for _, m := range c.members {
			response, err := http.Post("http://"+m.client+"/v3/maintenance/status", "application/json",
				bytes.NewBufferString("{}"))
			if err != nil {
				continue
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			var status struct {
				Header struct {
					Member string `json:"member_id"`
				}
				Leader string
			}
			if err == nil && json.Unmarshal(body, &status) == nil && status.Leader != "" &&
				status.Leader == status.Header.Member {
				leader = m
				return true
			}
		}
		return false
	})
	return leader
}

// within waits for a condition.
func within(t *testing.T, limit time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > limit {
			t.Fatalf("got nothing within %v, want this: %s", limit, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return time.Since(began)
}
