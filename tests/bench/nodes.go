package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/freeport"
	"github.com/gluepot/gluepot/tests/markdown"
	"github.com/gluepot/gluepot/tests/pgbouncer"
)

const (
	maxNodes   = 3
	nodePastes = 50_000
)

var nodeTitles = []string{
	"request", "by way of", "connections to each node", "requests/s with 1, 2, 3 nodes", "of 3 / of 1",
	"PostgreSQL's ms for 1,000 requests", "statements for a request",
}

// nodes measures the throughput of one to three nodes on one database, and the database's work.
func (b *bench) nodes() error {
	p, err := b.populate("nodes", nodePastes, pastyBytes)
	if err != nil {
		return err
	}
	if _, err := p.vacuum(); err != nil {
		return err
	}
	bouncerURL, err := b.startBouncer(p.url)
	if err != nil {
		return err
	}
	b.hasShares = true
	for i := range maxNodes {
		s, err := newShare(fmt.Sprintf("gluepot-bench-%d-%d", os.Getpid(), i))
		if err != nil {
			b.progressf("%v: nodes have GOMAXPROCS=1 only", err)
			b.hasShares = false
			break
		}
		b.shares = append(b.shares, s)
		b.stops = append(b.stops, s.remove)
	}
	profiles, err := b.script("users", `"/user/User" .. (n + 1)`, "")
	if err != nil {
		return err
	}
	read, err := b.readAllLoad(p)
	if err != nil {
		return err
	}
	create, err := b.createMoreLoad(p)
	if err != nil {
		return err
	}
	for i, l := range []load{{path: "/user/User1", script: profiles}, read, create} {
		for _, way := range []struct{ name, url string }{{"PostgreSQL", p.url}, {"PgBouncer", bouncerURL}} {
			for _, l.connections = range []int{4, 32} {
				cells := []string{[]string{"/user/{name}", "GET /paste/{id}", "POST /paste"}[i], way.name,
					fmt.Sprint(l.connections)}
				if err := b.addUp(p, way.url, l, cells); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// startBouncer starts PgBouncer in front of the server, and returns the URL of the database through it.
func (b *bench) startBouncer(direct string) (through string, err error) {
	if _, err := exec.LookPath("pgbouncer"); err != nil {
		return "", fmt.Errorf("this needs PgBouncer (Debian: apt-get install pgbouncer): %w", err)
	}
	folder, err := os.MkdirTemp("", "gluepot-pgbouncer-")
	if err != nil {
		return "", err
	}
	b.stops = append(b.stops, func() { _ = os.RemoveAll(folder) })
	port, err := freeport.Find(context.Background())
	if err != nil {
		return "", err
	}
	address := fmt.Sprint("127.0.0.1:", port)
	bouncer := &pgbouncer.Bouncer{Server: b.server, Address: address, Folder: folder}
	if bouncer.Credential, err = database.ServerUser(folder); err != nil {
		return "", err
	}
	path, err := bouncer.Write("docs/operations/ha/pgbouncer.ini")
	if err != nil {
		return "", err
	}
	if _, err := b.startAs(bouncer.Credential, "pgbouncer", []string{path}); err != nil {
		return "", err
	}
	for range 500 {
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = connection.Close()
			return bouncer.Through(direct)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", errors.New("PgBouncer did not start")
}

// addUp measures a load on one to maxNodes nodes, and adds a row that begins with these cells.
func (b *bench) addUp(p *population, url string, l load, cells []string) error {
	var (
		rates                          []float64
		throughputs, times, statements []string
	)
	for nodes := 1; nodes <= maxNodes; nodes++ {
		m, err := b.together(p, url, l, nodes)
		if err != nil {
			return err
		}
		databaseTime := "not on this machine"
		if m.database > 0 {
			databaseTime = fmt.Sprintf("%.0f", m.database*1e6)
		}
		rates = append(rates, m.rate)
		throughputs, times = append(throughputs, fmt.Sprintf("%.0f", m.rate)), append(times, databaseTime)
		statements = append(statements, fmt.Sprintf("%.2f", m.statements))
	}
	cells = append(cells, strings.Join(throughputs, ", "), fmt.Sprintf("%.2f", rates[maxNodes-1]/rates[0]),
		strings.Join(times, ", "), strings.Join(statements, ", "))
	b.progressf("%s", strings.Join(cells, " | "))
	b.nodeRows = append(b.nodeRows, cells)
	return nil
}

// total has the measurements of several nodes together: requests a second, and for each request the database's
// processor time in seconds and its number of statements, each of which is a transaction.
type total struct{ rate, database, statements float64 }

// together starts several nodes, and measures a load on all of them at once.
func (b *bench) together(p *population, url string, l load, nodes int) (t total, err error) {
	before, err := p.transactions()
	if err != nil {
		return t, err
	}
	var servers []*side
	defer func() {
		for _, server := range servers {
			server.process.stop()
		}
	}()
	for i := range nodes {
		server, err := b.serve(url, "GOMAXPROCS=1", "GLUEPOT_DATABASE_MIGRATE=false", "GLUEPOT_SWEEP_INTERVAL=0s")
		if err != nil {
			return t, err
		}
		servers = append(servers, server)
		if b.hasShares {
			if err := b.shares[i].add(server.process.cmd.Process.Pid); err != nil {
				return t, err
			}
		}
	}
	warm, err := b.onEach(servers, l)
	if err != nil {
		return t, err
	}
	timeBefore, err := p.databaseTime()
	if err != nil {
		return t, err
	}
	sum, err := b.onEach(servers, l)
	if err != nil {
		return t, err
	}
	timeAfter, err := p.databaseTime()
	if err != nil {
		return t, err
	}
	for _, server := range servers {
		server.process.stop()
	}
	after, err := p.transactions()
	return total{
		rate: sum.rate, database: (timeAfter - timeBefore) / sum.requests,
		statements: (after - before) / (warm.requests + sum.requests),
	}, err
}

// onEach applies a load to each server at the same time, and returns the sums.
func (b *bench) onEach(servers []*side, l load) (sum result, err error) {
	var (
		callers sync.WaitGroup
		results = make([]result, len(servers))
		errs    = make([]error, len(servers))
	)
	for i, server := range servers {
		callers.Go(func() { results[i], errs[i] = b.wrk(l.toward(server)) })
	}
	callers.Wait()
	for _, r := range results {
		sum.rate += r.rate
		sum.requests += r.requests
	}
	return sum, errors.Join(errs...)
}

// transactions ends all sessions, and returns how many transactions the database has had, including theirs.
func (p *population) transactions() (count float64, err error) {
	if err := p.endSessions(); err != nil {
		return 0, err
	}
	return count,
		p.db.QueryRow(`SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`).Scan(
			&count)
}

// writeNodes writes the measurements into SCALING.md.
func (b *bench) writeNodes(folder string) error {
	limits := "each node has GOMAXPROCS=1"
	if b.hasShares {
		limits += fmt.Sprintf(" and a control group that gives it %v of each %v of a processor", sharePart, sharePeriod)
	}
	introduction := fmt.Sprintf("%s; %s; %d s each.", b.machine(), limits, b.seconds)
	return markdown.ReplaceTable(filepath.Join(folder, "SCALING.md"), "make bench-nodes", introduction,
		nodeTitles, b.nodeRows)
}
