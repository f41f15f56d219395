package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
)

// people is how many users an installation has.
const people = 10_000

// The columns of pastes that the benchmark inserts, and the values of the last eight for an empty paste.
const (
	pasteColumns = "id, owner_id, created_at, expires_at, visibility, lifetime, title, encrypted, " +
		"pasties, tags, edits, content_bytes, history_bytes"
	emptyPaste = "'never', '', false, 0, 0, 0, 0, 0"
)

// onePasty returns the last eight values of a paste with one pasty, main.go, of this many bytes.
func onePasty(bytes int) string {
	return fmt.Sprintf("'never', 'a paste', false, 1, 0, 0, %d, 0", len("a paste")+len("main.go")+bytes)
}

// installation is a database with Gluepot and the twins on it.
type installation struct {
	db                  *sql.DB
	url                 string
	gluepot, twin, gorm *side
}

// side is one of the two servers of a comparison.
type side struct {
	address string // http://HOST:PORT
	process *process
}

func (i *installation) exec(statements ...string) error {
	for _, statement := range statements {
		if _, err := i.db.Exec(statement); err != nil {
			return fmt.Errorf("%.80s: %w", statement, err)
		}
	}
	return nil
}

// newInstallation creates a database with users and without pastes.
func (b *bench) newInstallation(name string) (*installation, error) {
	databaseURL, err := b.createDatabase(name)
	if err != nil {
		return nil, err
	}
	in := &installation{url: databaseURL.String()}
	if in.db, err = sql.Open("pgx", in.url); err != nil {
		return nil, err
	}
	b.stops = append(b.stops, func() { _ = in.db.Close() })
	migrate := exec.Command(b.gluepot, "migrate", "up")
	migrate.Env = append(os.Environ(), "GLUEPOT_DATABASE_URL="+in.url)
	if out, err := migrate.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("migrate: %w: %s", err, out)
	}
	return in, in.exec(
		fmt.Sprintf(`INSERT INTO users
				(id, username, avatar_url, default_language, public_profile, supporter_months, contributor, created_at)
			SELECT 'u' || x, 'User' || x, 'https://example.com/avatars/' || x || '.png',
				'Autodetect', true, x %% 40, x %% 7 = 0, now()
			FROM generate_series(1, %d) x`, people),
		`INSERT INTO access_tokens (id, user_id, kind, scope, hash, name, created_at)
			SELECT 'k' || id, id, 0, 0, sha256(('token' || substr(id, 2))::bytea), '', now() FROM users`,
		`INSERT INTO identities (user_id, provider, subject) SELECT id, 'github', substr(id, 2) FROM users`,
	)
}

// install creates a database with this many pastes, and starts the servers on it.
func (b *bench) install(name string, pastes int) (*installation, error) {
	in, err := b.newInstallation(name)
	if err != nil {
		return nil, err
	}
	// The first three users own 10, 1,000 and 100,000 pastes. Of the rest, a quarter is anonymous and the other users
	// share the others.
	if err := in.exec(
		fmt.Sprintf(`INSERT INTO pastes (`+pasteColumns+`)
			SELECT 'p' || lpad(x::text, 8, '0'),
				CASE WHEN x <= 10 THEN 'u1' WHEN x <= 1010 THEN 'u2' WHEN x <= 101010 THEN 'u3'
					WHEN x %% 4 = 0 THEN NULL ELSE 'u' || (4 + x %% %d) END,
				now() - x * interval '1 second', CASE WHEN x %% 10 = 0 THEN now() + interval '30 days' END, 0, %s
			FROM generate_series(1, %d) x`, people-4, onePasty(1), pastes),
		// The foreign key would be checked for each row.
		`ALTER TABLE pasties DISABLE TRIGGER ALL`,
		fmt.Sprintf(`INSERT INTO pasties (paste_id, position, id, title, language, code)
			SELECT 'p' || lpad(x::text, 8, '0'), 0, '%s', 'main.go', 'Go', 'x'
				FROM generate_series(1, %d) x`, pastyID, pastes),
		`ALTER TABLE pasties ENABLE TRIGGER ALL`,
		fmt.Sprintf(`INSERT INTO stars SELECT 'u' || x, 'p' || lpad((x * 7 + y)::text, 8, '0'), y
			FROM generate_series(1, %d) x, generate_series(1, 3) y`, min(people, pastes/8)),
		`VACUUM ANALYZE`, `CHECKPOINT`,
	); err != nil {
		return nil, err
	}
	if in.gluepot, err = b.serve(in.url, "GLUEPOT_LOG_LEVEL=info"); err != nil {
		return nil, err
	}
	response, err := http.Get(in.gluepot.address + "/data/language?name=Go")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	constant, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	process, err := b.start(b.twinPath, nil, "TWIN_DATABASE_URL="+in.url, "TWIN_CONSTANT="+string(constant))
	if err != nil {
		return nil, err
	}
	in.twin, in.gorm = &side{process: process}, &side{process: process}
	addresses, err := process.twinAddresses(2)
	if err != nil {
		return nil, err
	}
	in.twin.address, in.gorm.address = addresses[0], addresses[1]
	return in, nil
}

// serve starts Gluepot on a database.
func (b *bench) serve(url string, settings ...string) (*side, error) {
	process, err := b.start(b.gluepot, []string{"serve"},
		append([]string{"GLUEPOT_DATABASE_URL=" + url, "GLUEPOT_HTTP_ADDR=127.0.0.1:0"},
			settings...)...)
	if err != nil {
		return nil, err
	}
	address, err := process.gluepotAddress()
	return &side{address: address, process: process}, err
}

// onServer calls use with a connection to the server itself, not to a measured database.
func (b *bench) onServer(use func(*sql.DB) error) error {
	admin, err := sql.Open("pgx", b.server.String())
	if err != nil {
		return err
	}
	defer admin.Close() //nolint:errcheck // everything was committed
	return use(admin)
}

// createDatabase creates an empty database on the server, and returns its URL.
func (b *bench) createDatabase(name string) (*url.URL, error) {
	databaseURL := *b.server
	databaseURL.Path = "/" + name
	return &databaseURL, b.onServer(func(admin *sql.DB) error {
		_, err := admin.Exec("CREATE DATABASE " + name)
		return err
	})
}

// serverCache returns the size of the server's cache, which depends on who started it.
func (b *bench) serverCache(huge bool) (size string, err error) {
	err = b.onServer(func(admin *sql.DB) error { return admin.QueryRow("SHOW shared_buffers").Scan(&size) })
	if huge {
		size += " in huge pages"
	}
	return size, err
}

// dropDatabase drops a database.
func (b *bench) dropDatabase(name string) error {
	return b.onServer(func(admin *sql.DB) error {
		_, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		return err
	})
}

// fillUsers creates the same users in an empty database.
func (b *bench) fillUsers(url string) error {
	var text strings.Builder
	for i := range people {
		fmt.Fprintf(&text,
			`{"_id":"u%d","username":"User%d","avatarUrl":"https://example.com/avatars/%d.png","publicProfile":true,`+
				`"supporterLength":%d}`+"\n", i+1, i+1, i+1, i%40)
	}
	input := exec.Command(b.gluepot, "import", "pastemyst", "--users", "-")
	input.Stdin, input.Env, input.Dir = strings.NewReader(text.String()),
		append(os.Environ(), "GLUEPOT_DATABASE_URL="+url), b.folder
	if out, err := input.CombinedOutput(); err != nil {
		return fmt.Errorf("import users: %w: %s", err, out)
	}
	return nil
}

// process is a server under measurement.
type process struct {
	cmd  *exec.Cmd
	log  string // its standard error
	out  string // its standard output
	once sync.Once
}

// start starts a server whose log goes to a file, as an operator's would.
func (b *bench) start(path string, args []string, environment ...string) (*process, error) {
	return b.startAs(nil, path, args, environment...)
}

// startAs is like start, as another user unless that is nil.
func (b *bench) startAs(user *syscall.Credential, path string, args []string, environment ...string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...)}
	log, err := os.CreateTemp(b.folder, "log-")
	if err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(b.folder, "out-")
	if err != nil {
		return nil, err
	}
	p.log, p.out = log.Name(), out.Name()
	p.cmd.Stderr, p.cmd.Stdout, p.cmd.Dir = log, out, b.folder
	if user != nil {
		p.cmd.Dir, p.cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: user}
	}
	p.cmd.Env = append(append(os.Environ(), "GLUEPOT_HTTP_DRAIN_DELAY=0s"), environment...)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	b.stops = append(b.stops, p.stop)
	return p, nil
}

func (p *process) stop() {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(os.Interrupt)
		done := make(chan struct{})
		go func() { _ = p.cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = p.cmd.Process.Kill()
			<-done
		}
	})
}

func (p *process) gluepotAddress() (string, error) {
	for range 1000 {
		text, _ := os.ReadFile(p.log) // it may not exist yet
		for line := range strings.SplitSeq(string(text), "\n") {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "serving" {
				return "http://" + entry.Address, nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", errors.New("gluepot did not start: see " + p.log)
}

// twinAddresses waits until the twins have printed this many addresses, and returns them.
func (p *process) twinAddresses(count int) ([]string, error) {
	for range 1000 {
		text, _ := os.ReadFile(p.out) // it may not exist yet
		if fields := strings.Fields(string(text)); len(fields) == count {
			for i := range fields {
				fields[i] = "http://" + fields[i]
			}
			return fields, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, errors.New("the twin did not start")
}

func (p *process) residentMiB() float64 { return statusMiB(p.cmd.Process.Pid, "VmRSS") }

// watchPeak returns a channel that gets the peak resident memory of a process, in MiB, once it has ended. The usage
// that the system reports at the end would include this process as it was when it forked.
func watchPeak(pid int) <-chan float64 {
	peak := make(chan float64, 1)
	go func() {
		last := 0.0
		for {
			now := statusMiB(pid, "VmHWM")
			if now == 0 {
				peak <- last
				return
			}
			last = now
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return peak
}

var memoryPattern = regexp.MustCompile(`(VmRSS|VmHWM):\s+(\d+) kB`)

// statusMiB returns a value of a process's status in MiB, or 0 if it is missing.
func statusMiB(pid int, line string) float64 {
	status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status")) // missing on other systems
	for _, match := range memoryPattern.FindAllSubmatch(status, -1) {
		if string(match[1]) == line {
			kib, _ := strconv.ParseFloat(string(match[2]), 64) // digits
			return kib / 1024
		}
	}
	return 0
}

func waitReady(url string) error {
	client := http.Client{Timeout: time.Second}
	for range 2000 {
		if response, err := client.Get(url); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("gluepot did not become ready")
}

// load is the work of wrk: the same request repeatedly, or the requests of a script.
type load struct {
	to                   *side
	method               string // empty for GET
	path, header, script string
	body                 string
	connections          int
}

// toward returns the same load for a server.
func (l load) toward(to *side) load {
	l.to = to
	return l
}

// result has the measurements of wrk, with latencies in microseconds.
type result struct{ rate, p50, p99, requests float64 }

// script writes a wrk script that requests a path of another user each time. path and token are Lua expressions of n.
func (b *bench) script(name, path, token string) (string, error) {
	headers := ""
	if token != "" {
		headers = `, {["Authorization"] = ` + token + `}`
	}
	return b.lua(name,
		fmt.Sprintf("local n = 0\nrequest = function()\n  n = (n + 7919) %% %d\n  return wrk.format(\"GET\", %s%s)\nend\n",
			people, path, headers))
}

func (b *bench) lua(name, text string) (file string, err error) {
	file = filepath.Join(b.folder, strings.ReplaceAll(name, "/", "-")+".lua")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

var wrkPattern = regexp.MustCompile(
	`(?s)50%\s+([\d.]+)(us|ms|s).*99%\s+([\d.]+)(us|ms|s).*\s(\d+) requests in .*Requests/sec:\s+([\d.]+)`)

func (b *bench) wrk(l load) (result, error) {
	args := []string{"-t1", fmt.Sprintf("-c%d", l.connections), fmt.Sprintf("-d%ds", b.seconds), "--latency",
		"--timeout", "30s", // lists of 100,000 ids take seconds on a slow machine; the default is two
	}
	if l.script != "" {
		args = append(args, "-s", l.script)
	}
	if l.script == "" && l.header != "" {
		args = append(args, "-H", l.header)
	}
	out, err := run(context.Background(), "wrk", append(args, l.to.address+l.path)...)
	if err != nil {
		return result{}, err
	}
	match := wrkPattern.FindStringSubmatch(out)
	if match == nil || strings.Contains(out, "Non-2xx") || strings.Contains(out, "Socket errors") {
		return result{}, fmt.Errorf("wrk %s: %s", l.path, out)
	}
	microseconds := func(value, unit string) float64 {
		n, _ := strconv.ParseFloat(value, 64) // the pattern matches only digits
		return n * map[string]float64{"us": 1, "ms": 1e3, "s": 1e6}[unit]
	}
	requests, _ := strconv.ParseFloat(match[5], 64) // digits
	rate, err := strconv.ParseFloat(match[6], 64)
	return result{rate: rate, requests: requests, p50: microseconds(match[1], match[2]),
		p99: microseconds(match[3], match[4])}, err
}

// interleave measures both sides in turn, and returns the medians.
func (b *bench) interleave(gluepot, twin load) (ratio float64, g, t result, err error) {
	var ratios []float64
	var gs, ts [3][]float64
	rounds := b.rounds
	if !b.quick {
		rounds++
	}
	for round := range rounds {
		first, err := b.wrk(gluepot)
		if err != nil {
			return 0, g, t, err
		}
		second, err := b.wrk(twin)
		if err != nil {
			return 0, g, t, err
		}
		if round == 0 && !b.quick {
			continue // warm-up
		}
		ratios = append(ratios, first.rate/second.rate)
		for i, pair := range [][2]float64{{first.rate, second.rate}, {first.p50, second.p50}, {first.p99, second.p99}} {
			gs[i], ts[i] = append(gs[i], pair[0]), append(ts[i], pair[1])
		}
	}
	g = result{rate: median(gs[0]), p50: median(gs[1]), p99: median(gs[2])}
	t = result{rate: median(ts[0]), p50: median(ts[1]), p99: median(ts[2])}
	return median(ratios), g, t, nil
}

// compare measures two servers with the same answers, and adds a row.
func (b *bench) compare(name string, gluepot, twin load, floor float64) error {
	if !b.wants(name) {
		return nil
	}
	ratio, g, t, err := b.interleave(gluepot, twin)
	if err != nil {
		return err
	}
	b.add(row{
		Name: name, Ratio: ratio, Floor: floor, absolute: fmt.Sprintf("%.0f; %.0f", g.rate, t.rate),
		p50: milliseconds(g.p50) + "; " + milliseconds(t.p50), p99: milliseconds(g.p99) + "; " + milliseconds(t.p99),
		resident: fmt.Sprintf("%.0f; %.0f", gluepot.to.process.residentMiB(), twin.to.process.residentMiB()),
	})
	return nil
}
