package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/tests/markdown"
)

const (
	// manyPastes is the size from which on pastes have smallCode instead of pastyBytes, so that 10 GB of disk suffice.
	manyPastes = 2_000_000
	smallCode  = 200

	// minRounds and maxRounds are how many rounds of reads are measured beside a sweep, which then runs alone for
	// aloneTime. The rest is removed at once.
	minRounds, maxRounds = 3, 15
	aloneTime            = 20 * time.Second
	// flushTime is how long the server may take to end its sessions.
	flushTime = 30 * time.Second
	// growthRounds is the factor of rounds for the comparison of two sizes, which looks for differences of a few percent.
	growthRounds = 3
)

// population is a database whose pastes all have content of the same length. One in eleven has expired and is not
// swept.
type population struct {
	*installation

	name   string
	pastes int    // number of pastes that have not expired
	code   int    // bytes of each paste
	body   string // body of a request that creates such a paste
}

const removeExpired = `DELETE FROM pastes WHERE expires_at <= now()`

// drop drops the database.
func (p *population) drop(b *bench, err *error) {
	*err = errors.Join(*err, p.db.Close(), b.dropDatabase(p.name))
}

// expired returns how many pastes have expired.
func (p *population) expired() int { return p.pastes / 10 }

// populate creates a population. Ids are in no order, as Gluepot's, so that the indexes become as large as in real use.
func (b *bench) populate(name string, pastes, code int) (_ *population, err error) {
	in, err := b.newInstallation(name)
	if err != nil {
		return nil, err
	}
	in.db.SetMaxOpenConns(1)
	p := &population{installation: in, name: name, pastes: pastes, code: code}
	defer func() {
		if err != nil {
			p.drop(b, &err)
		}
	}()
	p.body = draft(strings.Repeat("code", code/4))
	if err := in.exec(
		// The foreign key would be checked for each row. VACUUM is measured, so it must not run by itself.
		`ALTER TABLE pasties DISABLE TRIGGER ALL`,
		`ALTER TABLE pastes SET (autovacuum_enabled = off)`, `ALTER TABLE pasties SET (autovacuum_enabled = off)`,
	); err != nil {
		return nil, err
	}
	indexes, err := p.dropIndexes()
	if err != nil {
		return nil, err
	}
	const step = 500_000
	for first, last := 1, pastes+p.expired(); first <= last; first += step {
		until := min(first+step-1, last)
		if err := in.exec(fmt.Sprintf(`INSERT INTO pastes (`+pasteColumns+`)
			SELECT lpad((x::bigint * %d %% %d)::text, 8, '0'),
				CASE WHEN x <= 1100 THEN 'u2' WHEN x %% 4 = 0 THEN NULL ELSE 'u' || (4 + x %% %d) END,
				now() - x * interval '1 second',
				CASE WHEN x %% 11 = 0 THEN now() - (x::bigint * 7919 %% 86400 + 3600) * interval '1 second'
					WHEN x %% 10 = 0 THEN now() + interval '30 days' END, x %% 2, %s
			FROM generate_series(%d, %d) x`, idFactor, idModulus, documentOwners, onePasty(code), first, until),
			fmt.Sprintf(`INSERT INTO pasties (paste_id, position, id, title, language, code)
				SELECT lpad((x::bigint * %d %% %d)::text, 8, '0'), 0, '%s', 'main.go', 'Go',
					left(repeat(md5(x::text) || E'\n', %d), %d)
				FROM generate_series(%d, %d) x`, idFactor, idModulus, pastyID, code/33+1, code, first, until)); err != nil {
			return nil, err
		}
	}
	return p, in.exec(append(indexes, `ALTER TABLE pasties ENABLE TRIGGER ALL`)...)
}

// dropIndexes drops the indexes of pastes except the primary key, because millions of insertions in no order would take
// an hour. It returns the statements that create them again, with as much room in their pages as such insertions leave:
// a third.
func (p *population) dropIndexes() (create []string, err error) {
	const room = " WITH (fillfactor = 67)"
	rows, err := p.db.Query(`
		SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'pastes' AND indexname <> 'pastes_pkey'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // they were read
	var drop []string
	for rows.Next() {
		var name, definition string
		if err := rows.Scan(&name, &definition); err != nil {
			return nil, err
		}
		columns, condition, partial := strings.Cut(definition, " WHERE ")
		definition = columns + room
		if partial {
			definition += " WHERE " + condition
		}
		drop, create = append(drop, "DROP INDEX "+name), append(create, definition)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return create, p.exec(drop...)
}

// The id of paste number x is x · idFactor mod idModulus, a prime: eight digits in no order, different for each paste.
const idFactor, idModulus = 104_729, 99_999_989

// readAllLoad reads pastes that are spread over the whole table, and differ in each round.
func (b *bench) readAllLoad(p *population) (load, error) {
	script, err := b.lua("read-all-"+p.name, fmt.Sprintf(`math.randomseed(os.time())
local n = math.random(%d)
request = function()
  n = (n + 7919) %% %d
  local x = 1 + n + math.floor(n / 10)
  return wrk.format("GET", string.format("/paste/%%08d", x * %d %% %d))
end
`, p.pastes, p.pastes, idFactor, idModulus))
	return load{path: fmt.Sprintf("/paste/%08d", idFactor), script: script}, err
}

func (b *bench) createMoreLoad(p *population) (load, error) {
	script, err := b.lua("create-more-"+p.name, fmt.Sprintf("wrk.method, wrk.body = \"POST\", [==[%s]==]\n", p.body))
	return load{method: http.MethodPost, path: "/paste", script: script, body: p.body}, err
}

// cost has the measurements of a load: requests a second, latencies in microseconds, and for each request the processor
// time of Gluepot and of the database in microseconds.
type cost struct{ rate, p50, p99, gluepot, database float64 }

// growth measures databases of several sizes. Each is compared with one of the smallest size, whose pastes are as long.
func (b *bench) growth(list string) error {
	var sizes []int
	for text := range strings.SplitSeq(list, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size < 2000 || size > 20_000_000 {
			return fmt.Errorf("got the size %q, want 2000 to 20000000", text)
		}
		sizes = append(sizes, size)
	}
	if !slices.IsSorted(sizes) {
		return fmt.Errorf("got the sizes %s, want them in ascending order", list)
	}
	for _, size := range sizes {
		if err := b.grow(size, sizes[0]); err != nil {
			return err
		}
	}
	return nil
}

// grow measures one size beside the smallest, and removes it.
func (b *bench) grow(pastes, smallest int) (err error) {
	code := pastyBytes
	if pastes >= manyPastes {
		code = smallCode
	}
	p, err := b.populate("growth", pastes, code)
	if err != nil {
		return err
	}
	defer p.drop(b, &err)
	cells, err := b.upkeep(p)
	if err != nil {
		return err
	}
	b.growthCells = append(b.growthCells, cells)
	b.progressf("%s", strings.Join(cells, " | "))
	if pastes == smallest {
		return nil
	}
	base, err := b.populate("growth_smallest", smallest, code)
	if err != nil {
		return err
	}
	defer base.drop(b, &err)
	if err := base.exec(removeExpired); err != nil {
		return err
	}
	if _, err := base.vacuum(); err != nil {
		return err
	}
	return b.flat(p, base)
}

// flat measures whether the most frequent requests take as long as with the smallest number of pastes, in alternating
// rounds.
func (b *bench) flat(p, base *population) error {
	populations := []*population{p, base}
	var servers []*side
	for _, pop := range populations {
		server, err := b.serve(pop.url, "GLUEPOT_SWEEP_INTERVAL=0s")
		if err != nil {
			return err
		}
		defer server.process.stop()
		if err := pop.warm(); err != nil {
			return err
		}
		servers = append(servers, server)
	}
	always := func(l load) func(*population) (load, error) {
		return func(*population) (load, error) { return l, nil }
	}
	for _, c := range []struct {
		what  string
		load  func(*population) (load, error)
		floor float64
	}{
		{"numPastes", always(load{path: "/data/numPastes"}), 1.2},
		{"/user/self/pastes of 1000", always(load{path: "/user/self/pastes", header: "Authorization: token2"}), 1.2},
		{"/~{name}, the first page of 500", always(load{path: "/~User2"}), 1.2},
		{"GET /paste/{id}", b.readAllLoad, 1.5},
		{"POST /paste", b.createMoreLoad, 1.2},
	} {
		loads := make([]load, len(populations))
		for n, pop := range populations {
			l, err := c.load(pop)
			if err != nil {
				return err
			}
			l.connections = 32
			loads[n] = l.toward(servers[n])
		}
		rounds, err := b.costsOf(p.installation, [2]load(loads))
		if err != nil {
			return err
		}
		b.addGrowth(fmt.Sprintf("%s, %d / %d pastes of %d bytes", c.what, p.pastes, base.pastes, p.code), rounds,
			c.floor)
	}
	return nil
}

// processorSuffix ends the names of rows that the documents leave out.
const processorSuffix = ": processor time"

// addGrowth adds the costs of a size and of the smallest size. A ratio is the median of the ratios of neighbouring
// rounds, because a machine that becomes slower for some seconds does so for both.
func (b *bench) addGrowth(name string, rounds [][2]cost, floor float64) {
	large, small := medianCost(rounds, 0), medianCost(rounds, 1)
	ratio := func(of func(cost) float64) float64 {
		var ratios []float64
		for _, r := range rounds {
			ratios = append(ratios, of(r[0])/of(r[1]))
		}
		return median(ratios)
	}
	b.add(row{
		Name: name + ": time for a request", Ratio: ratio(func(c cost) float64 {
			return 1 / c.rate
		}), Floor: floor, atMost: true,
		absolute: fmt.Sprintf("%.0f; %.0f", large.rate, small.rate),
		p50:      milliseconds(large.p50) + "; " + milliseconds(small.p50),
		p99:      milliseconds(large.p99) + "; " + milliseconds(small.p99),
	})
	b.add(row{
		Name: name + processorSuffix, Ratio: ratio(func(c cost) float64 {
			return c.gluepot + c.database
		}), Floor: floor, atMost: true,
		absolute: fmt.Sprintf("%.0f + %.0f; %.0f + %.0f µs", large.gluepot, large.database, small.gluepot, small.database),
	})
}

// costsOf measures two loads in turn, every second time in the opposite order. The installation is any on the same
// PostgreSQL server.
func (b *bench) costsOf(in *installation, loads [2]load) (rounds [][2]cost, err error) {
	for _, l := range loads {
		if _, err := b.wrk(l); err != nil { // warms up
			return nil, err
		}
	}
	for n := range growthRounds * b.rounds {
		var costs [2]cost
		for i := range loads {
			i = (i + n) % len(loads)
			if costs[i], err = b.costOf(in, loads[i]); err != nil {
				return nil, err
			}
		}
		rounds = append(rounds, costs)
	}
	return rounds, nil
}

// costOf measures one round.
func (b *bench) costOf(in *installation, l load) (cost, error) {
	ours := processorTime(l.to.process.cmd.Process.Pid)
	theirs, err := in.databaseTime()
	if err != nil {
		return cost{}, err
	}
	r, err := b.wrk(l)
	if err != nil {
		return cost{}, err
	}
	ours = processorTime(l.to.process.cmd.Process.Pid) - ours
	after, err := in.databaseTime()
	return cost{r.rate, r.p50, r.p99, ours / r.requests * 1e6, (after - theirs) / r.requests * 1e6}, err
}

// medianCost returns the median of each figure of one of the two loads.
func medianCost(rounds [][2]cost, which int) cost {
	figure := func(of func(cost) float64) float64 {
		var values []float64
		for _, r := range rounds {
			values = append(values, of(r[which]))
		}
		return median(values)
	}
	return cost{
		figure(func(c cost) float64 { return c.rate }), figure(func(c cost) float64 { return c.p50 }),
		figure(func(c cost) float64 { return c.p99 }), figure(func(c cost) float64 { return c.gluepot }),
		figure(func(c cost) float64 { return c.database }),
	}
}

var growthTitles = []string{
	"pastes", "bytes of code of each", "on disk, MiB", "`pastes`", "`pasties`", "indexes of both",
	"pages a read asks for: of indexes; of tables", "expired ones swept", "p99 of reads beside that / without",
	"`VACUUM` after filling; after that",
}

// upkeep measures the disk space of a database and the costs of its maintenance, and returns a row for growthTitles.
func (b *bench) upkeep(p *population) ([]string, error) {
	firstVacuum, err := p.vacuum()
	if err != nil {
		return nil, err
	}
	var sizes [4]float64 // MiB
	if err := p.warm(); err != nil {
		return nil, err
	}
	const mib = `%s(%s)::float8 / 1048576`
	columns := []string{fmt.Sprintf(mib, "pg_database_size", "current_database()")}
	for _, relation := range []string{"pastes", "pasties"} {
		columns = append(columns, fmt.Sprintf(mib, "pg_table_size", "'"+relation+"'"))
	}
	columns = append(columns, fmt.Sprintf(mib, "pg_indexes_size", "'pastes'")+" + "+fmt.Sprintf(mib,
		"pg_indexes_size", "'pasties'"))
	if err := p.db.QueryRow(`SELECT `+strings.Join(columns, ", ")).Scan(&sizes[0], &sizes[1],
		&sizes[2], &sizes[3]); err != nil {
		return nil, err
	}
	pages, sweep, err := b.sweep(p)
	if err != nil {
		return nil, err
	}
	secondVacuum, err := p.vacuum()
	if err != nil {
		return nil, err
	}
	beside := "too short to say"
	if sweep.p99 > 0 {
		beside = fmt.Sprintf("%.2f (%s / %s ms)", sweep.p99/sweep.p99Without, milliseconds(sweep.p99),
			milliseconds(sweep.p99Without))
		b.add(row{
			Name:  fmt.Sprintf("p99 of GET /paste/{id} beside sweeping %d pastes of %d bytes / without", p.expired(), p.code),
			Ratio: sweep.p99 / sweep.p99Without, Floor: 2, atMost: true, absolute: sweep.rates(),
			p99: milliseconds(sweep.p99) + "; " + milliseconds(sweep.p99Without),
		})
	}
	return []string{
		strconv.Itoa(p.pastes + p.expired()), strconv.Itoa(p.code), size(sizes[0]), size(sizes[1]), size(sizes[2]),
		size(sizes[3]), pages,
		fmt.Sprintf("%d: %s", p.expired(), sweep.rates()), beside,
		fmt.Sprintf("%.1f; %.1f s", firstVacuum.Seconds(), secondVacuum.Seconds()),
	}, nil
}

// size formats a number of MiB.
func size(mib float64) string {
	if mib < 10 {
		return fmt.Sprintf("%.1f", mib)
	}
	return fmt.Sprintf("%.0f", mib)
}

// vacuum vacuums the tables of pastes, as autovacuum would, and writes everything to disk.
func (p *population) vacuum() (time.Duration, error) {
	start := time.Now()
	err := p.exec(`VACUUM (ANALYZE) pastes`, `VACUUM (ANALYZE) pasties`)
	duration := time.Since(start)
	if err == nil {
		err = p.exec(`VACUUM (ANALYZE) paste_counts`, `CHECKPOINT`)
	}
	return duration, err
}

// warm loads the database into PostgreSQL's cache, as far as it fits, as long use does. Random requests would need
// longer than a measurement to touch each page of millions of pastes.
func (p *population) warm() error {
	const firstOID = 16384 // lower ones are PostgreSQL's own
	return p.exec(`CREATE EXTENSION IF NOT EXISTS pg_prewarm`,
		fmt.Sprintf(`SELECT pg_prewarm(oid::regclass) FROM pg_class
			WHERE relkind IN ('r', 'i', 't') AND oid >= %d`, firstOID),
		`SELECT pg_stat_force_next_flush()`) // its page reads must not count later
}

// sweepCost has the measurements of a sweep: pastes a second, and latencies in microseconds.
type sweepCost struct {
	beside, alone   float64 // beside reads, and after them; the second is 0 if no pastes remained
	p99, p99Without float64 // of reads beside and without the sweep; the first is 0 if the sweep was too quick
}

// rates returns the rates as text.
func (c sweepCost) rates() string {
	text := fmt.Sprintf("%.0f/s beside reads", c.beside)
	if c.alone > 0 {
		text += fmt.Sprintf(", %.0f/s alone", c.alone)
	}
	return text
}

// sweep lets a server sweep expired pastes beside reads, and for a while after them, and then removes the rest. pages
// is how many pages of indexes and of tables a read accesses without a sweep.
func (b *bench) sweep(p *population) (pages string, c sweepCost, err error) {
	read, err := b.readAllLoad(p)
	if err != nil {
		return "", c, err
	}
	read.connections = 8
	without, pages, err := b.unswept(p, read)
	if err != nil {
		return "", c, err
	}
	server, err := b.serve(p.url, "GLUEPOT_SWEEP_INTERVAL=1s")
	if err != nil {
		return "", c, err
	}
	defer server.process.stop()
	watch := p.watchSweep()
	var beside []float64
	for len(beside) < maxRounds && !watch.over() {
		r, err := b.wrk(read.toward(server))
		if err != nil {
			return "", c, errors.Join(err, watch.stop())
		}
		if !watch.over() {
			beside = append(beside, r.p99)
		}
	}
	readsEnd, remaining := time.Now(), int(watch.remaining.Load())
	if watch.over() {
		readsEnd = watch.end
	} else {
		select {
		case <-watch.done:
		case <-time.After(aloneTime):
		}
	}
	if err := watch.stop(); err != nil {
		return "", c, err
	}
	server.process.stop()
	after, _, err := b.unswept(p, read) // the machine may have become faster or slower
	if err != nil {
		return "", c, err
	}
	if len(beside) >= minRounds {
		c.p99, c.p99Without = median(beside), median(append(without, after...))
	}
	if !readsEnd.Equal(watch.end) {
		c.alone = float64(remaining-int(watch.remaining.Load())) / watch.end.Sub(readsEnd).Seconds()
	}
	c.beside = float64(p.pastes+p.expired()-remaining) / readsEnd.Sub(watch.start).Seconds()
	return pages, c, p.exec(removeExpired)
}

// unswept measures reads from a server that does not sweep: the p99 of each round, and how many pages a read accesses.
func (b *bench) unswept(p *population, read load) (p99s []float64, pages string, err error) {
	before, err := p.pageAccesses() // ends sessions, upon which a running server would answer 503
	if err != nil {
		return nil, "", err
	}
	server, err := b.serve(p.url, "GLUEPOT_SWEEP_INTERVAL=0s")
	if err != nil {
		return nil, "", err
	}
	defer server.process.stop()
	requests := 0.0
	for range b.rounds {
		r, err := b.wrk(read.toward(server))
		if err != nil {
			return nil, "", err
		}
		requests += r.requests
		p99s = append(p99s, r.p99)
	}
	server.process.stop()
	after, err := p.pageAccesses()
	return p99s, fmt.Sprintf("%.1f; %.1f", (after[0]-before[0])/requests, (after[1]-before[1])/requests), err
}

// sweepWatch watches a sweep. Its times may be read when it is over.
type sweepWatch struct {
	start, end time.Time
	remaining  atomic.Int64 // pastes in the table
	cancel     context.CancelFunc
	done       chan struct{}
	err        error
}

func (w *sweepWatch) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// stop stops watching.
func (w *sweepWatch) stop() error {
	w.cancel()
	<-w.done
	if w.err == nil && w.start.IsZero() {
		return errors.New("got no sweep, want one")
	}
	return w.err
}

// watchSweep watches a sweep until all expired pastes are removed, or until stop.
func (p *population) watchSweep() *sweepWatch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &sweepWatch{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for {
			var remaining int64
			if err := p.db.QueryRow(`SELECT sum(pastes) FROM paste_counts`).Scan(&remaining); err != nil {
				w.err = fmt.Errorf("count the remaining pastes: %w", err)
				return
			}
			w.remaining.Store(remaining)
			w.end = time.Now()
			if w.start.IsZero() && remaining < int64(p.pastes+p.expired()) {
				w.start = w.end
			}
			if remaining <= int64(p.pastes) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return w
}

// pageAccesses returns how many pages of indexes and of tables ended sessions have accessed, cached or not. It ends all
// sessions, because a session reports its accesses when it ends.
func (p *population) pageAccesses() (pages [2]float64, err error) {
	if err := p.endSessions(); err != nil {
		return pages, err
	}
	return pages,
		p.db.QueryRow(
			`SELECT sum(idx_blks_hit + idx_blks_read), sum(heap_blks_hit + heap_blks_read) FROM pg_statio_user_tables`).
			Scan(&pages[0], &pages[1])
}

// endSessions ends all other sessions of the database, and waits until they have ended.
func (i *installation) endSessions() error {
	for start := time.Now(); time.Since(start) < flushTime; time.Sleep(10 * time.Millisecond) {
		var others int
		err := i.db.QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&others)
		if err != nil {
			return err
		}
		if others == 0 {
			return nil
		}
	}
	return errors.New("got sessions of the server that do not end, want none")
}

// writeGrowth writes the measurements into the documents.
func (b *bench) writeGrowth(folder string) error {
	const command = "make bench-db"
	introduction := fmt.Sprintf("%s; medians of %d rounds of %d s each, beside a sweep of %d.",
		b.machine(), growthRounds*b.rounds, b.seconds, b.rounds)
	if err := markdown.ReplaceTable(filepath.Join(folder, "SCALING.md"), command, introduction,
		growthTitles, b.growthCells); err != nil {
		return err
	}
	var rows [][]string
	for _, r := range b.rows {
		if !strings.HasSuffix(r.Name, processorSuffix) {
			rows = append(rows, r.cells()[:len(growthRows)])
		}
	}
	return markdown.ReplaceTable(filepath.Join(folder, "BENCHMARKS.md"), command, introduction, growthRows, rows)
}

var growthRows = []string{"what", "ratio", "floor", "met", "requests/s unless said"}
