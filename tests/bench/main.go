// Command bench measures the real program beside other programs, over loopback, in interleaved rounds, and writes one
// table. "make bench" and "make bench-quick" run it.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gluepot/gluepot/tests/database"
)

// row is one line of the result. Ratio is Gluepot's rate over the other program's, or the value that the name says. The
// margin above the floor may be spent on simplicity; a row below its floor is a defect.
type row struct {
	Name  string  `json:"name"`
	Ratio float64 `json:"ratio"`
	Floor float64 `json:"floor"`
	Met   bool    `json:"met"`

	atMost   bool // the floor is an upper bound
	absolute string
	p50, p99 string
	resident string
}

type bench struct {
	quick       bool
	rowNames    *regexp.Regexp // matches the names of the rows to measure
	seconds     int            // of one round
	rounds      int
	pastes      int
	folder      string
	gluepot     string
	twinPath    string
	server      *url.URL
	cache       string        // size of the server's cache
	large       *installation // see largeInstallation
	rows        []row
	growthCells [][]string // a row for each size
	nodeRows    [][]string // a row for each load on one to maxNodes nodes
	shares      []*share   // of the processor, one for each node
	hasShares   bool       // whether nodes are bound to them
	stops       []func()
}

func main() {
	b := &bench{rowNames: new(regexp.Regexp)}
	flag.BoolVar(&b.quick, "quick", false, "fewer and shorter rounds on less data")
	flag.TextVar(b.rowNames, "rows", regexp.MustCompile(""), "only measure the rows whose name matches this expression")
	pastes := flag.Int("pastes", 0, "another number of pastes in the database of the comparisons")
	importsOnly := flag.Bool("imports", false, "only measure imports")
	growth := flag.Bool("growth", false,
		"only measure how answers slow down, and the database grows, with the number of pastes")
	sizes := flag.String("sizes", "10000,1000000,10000000", "numbers of pastes that -growth measures, the smallest first")
	nodes := flag.Bool("nodes", false, "only measure how several nodes on one database add up")
	searches := flag.Int("search", 0, "only measure searches of this many pastes")
	copies := flag.Int("copies", 0, "only measure copying this many pastes from SQLite to PostgreSQL and back")
	flag.StringVar(&b.gluepot, "gluepot", "bin/gluepot", "the binary to measure")
	out := flag.String("out", "", "write the rows to this file as JSON")
	docs := flag.String("docs", "", "write the tables, and the chart, into the pages of this folder")
	flag.Parse()
	b.seconds, b.rounds, b.pastes = 2, 5, 10_000_000
	if b.quick {
		b.seconds, b.pastes = 1, 200_000
	}
	b.pastes = cmp.Or(*pastes, b.pastes)
	var what func() error
	write := b.writeDocs
	switch {
	case *importsOnly:
		what, write = b.imports, nil
	case *growth:
		what, write = func() error { return b.growth(*sizes) }, b.writeGrowth
	case *nodes:
		what, write = b.nodes, b.writeNodes
	case *searches > 0:
		what, write = func() error { return b.searches(*searches) }, nil
	case *copies > 0:
		what, write = func() error { return b.copies(*copies) }, nil
	default:
		what = b.everything
	}
	var err error
	if b.rowNames.String() != "" && *docs != "" {
		err = errors.New("-rows and -docs exclude each other: the documents have all rows")
	} else {
		err = b.run(what)
	}
	for _, stop := range slices.Backward(b.stops) {
		stop()
	}
	b.print()
	if *out != "" {
		err = errors.Join(err, b.writeJSON(*out))
	}
	if *docs != "" && err == nil && write != nil {
		err = write(*docs)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(what func() error) (err error) {
	if _, err := exec.LookPath("wrk"); err != nil {
		return errors.New("the load generator wrk is not installed (Debian: apt-get install wrk)")
	}
	if b.gluepot, err = filepath.Abs(b.gluepot); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "gluepot-bench-"); err != nil {
		return err
	}
	b.stops = append(b.stops, func() { _ = os.RemoveAll(b.folder) })
	b.twinPath = filepath.Join(b.folder, "twin")
	build := exec.Command("go", "build", "-o", b.twinPath, "./tests/bench/twin/serve")
	build.Stderr = os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the twin: %w", err)
	}
	server, huge, stop, err := database.StartServer()
	if err != nil {
		return err
	}
	b.server = server
	b.stops = append(b.stops, stop)
	if b.cache, err = b.serverCache(huge); err != nil {
		return err
	}
	return what()
}

// wants reports whether a row with one of the names is to be measured.
func (b *bench) wants(names ...string) bool {
	return slices.ContainsFunc(names, b.rowNames.MatchString)
}

func (b *bench) everything() error {
	for _, step := range []func() error{
		b.languages, b.users, b.self, b.documents, func() error { return b.resident("PostgreSQL", 64) },
		func() error { return b.resident("SQLite", 96) }, b.rawText, b.lists, b.imports,
		func() error { return b.copies(map[bool]int{true: 50_000, false: 300_000}[b.quick]) },
		func() error { return b.searches(map[bool]int{true: 20_000, false: 100_000}[b.quick]) },
		b.startUp, b.image, b.counting,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// largeInstallation returns the installation of most comparisons, which it creates on the first call.
func (b *bench) largeInstallation() (in *installation, err error) {
	if b.large == nil {
		b.large, err = b.install("bench", b.pastes)
	}
	return b.large, err
}

func (b *bench) languages() error {
	const name = "language by name / plain gin with zap's access log, 32 connections"
	if !b.wants(name) {
		return nil
	}
	in, err := b.largeInstallation()
	if err != nil {
		return err
	}
	return b.compare(name, load{to: in.gluepot, path: "/data/language?name=Go", connections: 32},
		load{to: in.gorm, path: "/constant", connections: 32}, 0.85)
}

func (b *bench) users() error {
	for _, at := range []struct {
		connections int
		floor       float64
	}{{1, 1}, {32, 1.5}} {
		name := fmt.Sprintf("/user/{name} / plain gin and GORM, %d connections", at.connections)
		if !b.wants(name) {
			continue
		}
		in, err := b.largeInstallation()
		if err != nil {
			return err
		}
		script, err := b.script("users", `"/user/User" .. (n + 1)`, "")
		if err != nil {
			return err
		}
		l := load{path: "/user/User1", script: script, connections: at.connections}
		if err := b.compare(name, l.toward(in.gluepot), l.toward(in.gorm), at.floor); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) self() error {
	const name = "/user/self / twin, 32 connections"
	if !b.wants(name) {
		return nil
	}
	in, err := b.largeInstallation()
	if err != nil {
		return err
	}
	script, err := b.script("self", `"/user/self"`, `"token" .. (n + 1)`)
	if err != nil {
		return err
	}
	l := load{path: "/user/self", header: "Authorization: token1", script: script, connections: 32}
	return b.compare(name, l.toward(in.gluepot), l.toward(in.twin), 1)
}

// resident measures the memory of a separate server during a load.
func (b *bench) resident(database string, floor float64) error {
	name := fmt.Sprintf("resident memory under 32 connections, %s, MiB", database)
	if !b.wants(name) {
		return nil
	}
	url := "sqlite://" + filepath.Join(b.folder, "resident.db")
	if database == "SQLite" {
		if err := b.fillUsers(url); err != nil {
			return err
		}
	} else {
		in, err := b.largeInstallation()
		if err != nil {
			return err
		}
		url = in.url
	}
	script, err := b.script("memory", `"/user/User" .. (n + 1)`, "")
	if err != nil {
		return err
	}
	server, err := b.serve(url)
	if err != nil {
		return err
	}
	memory := make(chan float64, 1)
	go func() {
		time.Sleep(time.Duration(b.seconds) * 900 * time.Millisecond)
		memory <- server.process.residentMiB()
	}()
	if _, err := b.wrk(load{to: server, path: "/user/User1", script: script, connections: 32}); err != nil {
		return err
	}
	mib := <-memory
	server.process.stop()
	b.add(row{Name: name, Ratio: mib, Floor: floor, atMost: true})
	return nil
}

// imports measures how many pastes a second the command imports.
func (b *bench) imports() error {
	const pastes, floor = 300_000, 12_000
	const rateName, peakName = "import into %s, pastes/s", "peak resident memory of the import into %s, MiB"
	if !b.wants(fmt.Sprintf(rateName, "SQLite"), fmt.Sprintf(rateName, "PostgreSQL"), fmt.Sprintf(peakName, "SQLite"),
		fmt.Sprintf(peakName, "PostgreSQL")) {
		return nil
	}
	code := strings.Repeat(`\tprintln(\"hello\")\n`, 60) // 1 KiB
	file := filepath.Join(b.folder, "pastes.json")
	var text strings.Builder
	for i := range pastes {
		fmt.Fprintf(&text,
			`{"_id":"p%07d","ownerId":"","createdAt":%d,"deletesAt":0,"title":"a paste","pasties":[{"_id":"a",`+
				`"language":"Go","code":"package main\n\nfunc main() {\n%s\tprintln(%d)\n}\n"}]}`+"\n", i, 1_700_000_000+i, code, i)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return err
	}
	postgres, err := b.createDatabase("imported")
	if err != nil {
		return err
	}
	for _, store := range []struct{ name, url string }{
		{"SQLite", "sqlite://" + filepath.Join(b.folder, "imported.db")}, {"PostgreSQL", postgres.String()},
	} {
		command := exec.Command(b.gluepot, "import", "pastemyst", "--pastes", file)
		command.Env, command.Dir = append(os.Environ(), "GLUEPOT_DATABASE_URL="+store.url), b.folder
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		start := time.Now()
		if err := command.Start(); err != nil {
			return err
		}
		peakMiB := watchPeak(command.Process.Pid)
		if err := command.Wait(); err != nil {
			return fmt.Errorf("import: %w: %s", err, &out)
		}
		b.add(row{Name: fmt.Sprintf(rateName, store.name), Ratio: pastes / time.Since(start).Seconds(), Floor: floor})
		b.add(row{Name: fmt.Sprintf(peakName, store.name), Ratio: <-peakMiB, Floor: 128, atMost: true})
	}
	return nil
}

// startUp measures the time from the start of the process to the first ready answer.
func (b *bench) startUp() error {
	const name = "start to ready, migrated SQLite, ms"
	if !b.wants(name) {
		return nil
	}
	path := filepath.Join(b.folder, "start.db")
	var times []float64
	for range 8 {
		start := time.Now()
		p, err := b.start(b.gluepot, []string{"serve"}, "GLUEPOT_DATABASE_URL=sqlite://"+path,
			"GLUEPOT_HTTP_ADDR=127.0.0.1:18473")
		if err != nil {
			return err
		}
		if err := waitReady("http://127.0.0.1:18473/readyz"); err != nil {
			return err
		}
		times = append(times, float64(time.Since(start).Microseconds())/1000)
		p.stop()
	}
	ms := median(times[1:]) // the first one migrated
	b.add(row{Name: name, Ratio: ms, Floor: 150, atMost: true})
	return nil
}

// image measures the size of the files in the container image.
func (b *bench) image() error {
	const name = "image, MB"
	if !b.wants(name) {
		return nil
	}
	licences, err := exec.Command(".ci/licences").Output()
	if err != nil {
		return fmt.Errorf("licences: %w", err)
	}
	size := int64(len(licences))
	for _, file := range []string{b.gluepot, "/etc/ssl/certs/ca-certificates.crt"} {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		size += info.Size()
	}
	b.add(row{Name: name, Ratio: float64(size) / 1e6, Floor: 60, atMost: true})
	return nil
}

// counting compares numPastes on a large and a small table, swept and unswept.
func (b *bench) counting() error {
	swept := fmt.Sprintf("numPastes p50, %d / 10000 pastes, swept", b.pastes)
	unswept := fmt.Sprintf("numPastes p50, %d pastes with 1000 unswept / 10000 swept", b.pastes)
	if !b.wants(swept) && (b.quick || !b.wants(unswept)) {
		return nil
	}
	large, err := b.largeInstallation()
	if err != nil {
		return err
	}
	small, err := b.install("small", 10_000)
	if err != nil {
		return err
	}
	if err := b.compareCounts(swept, large, small, 1.1); err != nil || b.quick {
		return err
	}
	for _, in := range []*installation{large, small} {
		if err := in.exec(`INSERT INTO pastes (`+pasteColumns+`)
				SELECT 'x' || x, NULL, now(), now(), 0, `+emptyPaste+` FROM generate_series(1, 1000) x`,
			`VACUUM ANALYZE pastes`); err != nil {
			return err
		}
	}
	// Compare with the small table in its swept state.
	if err := small.exec(`DELETE FROM pastes WHERE expires_at < now()`, `VACUUM ANALYZE pastes`); err != nil {
		return err
	}
	return b.compareCounts(unswept, large, small, 1.6)
}

func (b *bench) compareCounts(name string, a, z *installation, floor float64) error {
	var ratios, p50s []float64
	for range b.rounds {
		first, err := b.wrk(load{to: a.gluepot, path: "/data/numPastes", connections: 1})
		if err != nil {
			return err
		}
		second, err := b.wrk(load{to: z.gluepot, path: "/data/numPastes", connections: 1})
		if err != nil {
			return err
		}
		ratios, p50s = append(ratios, first.p50/second.p50), append(p50s, first.p50)
	}
	b.add(row{Name: name, Ratio: median(ratios), Floor: floor, atMost: true, p50: milliseconds(median(p50s))})
	return nil
}

// add adds a row, unless it was measured only for the sake of others.
func (b *bench) add(r row) {
	if !b.wants(r.Name) {
		return
	}
	r.Met = r.Ratio >= r.Floor
	if r.atMost {
		r.Met = r.Ratio <= r.Floor
	}
	b.rows = append(b.rows, r)
	c := r.cells()
	b.progressf("%-75s %8s %8s %s", r.Name, c[1], c[2], c[3])
}

// progressf prints progress to standard error.
func (b *bench) progressf(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (b *bench) writeJSON(path string) error {
	text, err := json.MarshalIndent(b.rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// cells returns the cells of a row as text.
func (r row) cells() []string {
	sign, met := "≥", "yes"
	if r.atMost {
		sign = "≤"
	}
	if !r.Met {
		met = "**NO**"
	}
	ratio := fmt.Sprintf("%.2f", r.Ratio)
	if r.Ratio >= 100 { // pastes a second
		ratio = fmt.Sprintf("%.0f", r.Ratio)
	}
	return []string{r.Name, ratio, fmt.Sprintf("%s%g", sign, r.Floor), met, r.absolute, r.p50, r.p99, r.resident}
}

var titles = []string{
	"what", "ratio", "floor", "met", "Gluepot; the other, requests/s unless said", "p50, ms", "p99, ms", "resident, MiB",
}

func (b *bench) print() {
	if len(b.rows) == 0 {
		return
	}
	line := func(c []string) {
		_, _ = fmt.Printf("%-72s %8s %8s %6s  %-28s %-20s %-20s %s\n", c[0], c[1], c[2], strings.Trim(c[3], "*"), c[4],
			c[5], c[6], c[7])
	}
	_, _ = fmt.Println()
	line(titles)
	var missed int
	for _, r := range b.rows {
		line(r.cells())
		if !r.Met {
			missed++
		}
	}
	_, _ = fmt.Printf("\n%d of %d rows are below their floor\n", missed, len(b.rows))
}

func run(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return string(out), nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func milliseconds(us float64) string { return fmt.Sprintf("%.2f", us/1000) }
