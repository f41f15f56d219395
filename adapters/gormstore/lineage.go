package gormstore

import (
	"context"
	"errors"
	"maps"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// lineage keeps a store away from a server that was the primary once and does not know yet that another is: one that was stopped
// and goes on, or whose supervisor died. What such a server says of itself is of no use; but each promotion begins a timeline with a
// higher number, so that of two primaries the former is the one with the lower (decision 0053).
//
// What connects tells the timeline of its server, and is refused when a higher one is known; what is connected to a lower one is
// closed, with whatever it waits for. Where the URL has several hosts, a watcher asks each of them again and again, because
// else nobody would who is content with the former primary; it also knows whom to connect to first.
type lineage struct {
	mu      sync.Mutex
	newest  int64
	members map[*pgconn.PgConn]struct{} // connections to servers with the newest timeline
	leading string                      // the host and port of the newest, where there are several
	settled time.Time                   // when the newest may be used: before that, other nodes may still use the former one

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

const (
	// watchInterval is how often each of several hosts is asked.
	watchInterval = 250 * time.Millisecond
	// settleTime is how long a new primary is left alone: nodes that ask at other moments than this one leave the former meanwhile, so
	// that none reads there what another has already changed here. It is below the time that configurations give a connection, 1 s.
	settleTime = 750 * time.Millisecond
	// watchPatience is how long it may take to answer.
	watchPatience = 2 * time.Second
)

// timelineOfPrimary is 0 on a standby. It is the same question as Patroni's own.
const timelineOfPrimary = `SELECT CASE WHEN pg_is_in_recovery() THEN 0
ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END`

// errFormerPrimary refuses a server.
var errFormerPrimary = errors.New("the server was the primary once and another is now: if the database was put back " +
	"to an earlier state on purpose, restart this program")

// guard makes every connection of a configuration one that the lineage knows. Of several hosts only a primary will do, also where the URL
// does not say so: a standby would answer with what was true before.
func (l *lineage) guard(cfg *pgconn.Config) {
	inherited := cfg.ValidateConnect
	if inherited == nil && len(placesOf(cfg)) > 1 {
		inherited = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	cfg.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if inherited != nil {
			if err := inherited(ctx, conn); err != nil {
				return err
			}
		}
		timeline, err := askTimeline(ctx, conn)
		if err != nil {
			return err
		}
		if err := l.admit(conn, timeline); err != nil {
			return err
		}
		return l.settle(ctx)
	}
}

// settle waits until the primary may be used.
func (l *lineage) settle(ctx context.Context) error {
	l.mu.Lock()
	left := time.Until(l.settled)
	l.mu.Unlock()
	if left <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(left):
		return nil
	}
}

// admit notes a connection to a server with that timeline, or refuses it, and forgets those that are closed.
func (l *lineage) admit(conn *pgconn.PgConn, timeline int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(timeline)
	maps.DeleteFunc(l.members, func(member *pgconn.PgConn, _ struct{}) bool {
		select {
		case <-member.CleanupDone():
			return true
		default:
			return false
		}
	})
	switch timeline {
	case 0:
	case l.newest:
		l.members[conn] = struct{}{}
	default:
		return errFormerPrimary
	}
	return nil
}

// askTimeline returns 0 for a standby, and for an engine that has no timelines.
func askTimeline(ctx context.Context, conn *pgconn.PgConn) (int64, error) {
	results, err := conn.Exec(ctx, timelineOfPrimary).ReadAll()
	if _, answered := errors.AsType[*pgconn.PgError](err); answered && !conn.IsClosed() {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 1 {
		return 0, nil
	}
	timeline, _ := strconv.ParseInt(string(results[0].Rows[0][0]), 10, 64)
	return timeline, nil
}

// advance closes what is connected to servers with lower timelines. The caller holds mu.
func (l *lineage) advance(timeline int64) {
	if timeline <= l.newest {
		return
	}
	if l.newest > 0 {
		l.settled = time.Now().Add(settleTime)
	}
	l.newest = timeline
	for conn := range l.members {
		_ = socketOf(conn.Conn()).Close() // whoever uses it is told, and the pool drops it
	}
	clear(l.members)
}

// learn notes that there is a primary with that timeline at that place.
func (l *lineage) learn(timeline int64, place string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(timeline)
	if timeline == l.newest {
		l.leading = place
	}
}

func placeOf(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }

// leadFirst has a configuration try the place of the primary before others.
func (l *lineage) leadFirst(cfg *pgconn.Config) {
	l.mu.Lock()
	leading := l.leading
	l.mu.Unlock()
	if leading == "" || len(cfg.Fallbacks) == 0 {
		return
	}
	var first, others []*pgconn.FallbackConfig
	for _, choice := range choices(cfg) {
		if placeOf(choice.Host, choice.Port) == leading {
			first = append(first, choice)
		} else {
			others = append(others, choice)
		}
	}
	choose(cfg, append(first, others...))
}

// choices are all that a configuration tries in turn: each host with and without TLS.
func choices(cfg *pgconn.Config) []*pgconn.FallbackConfig {
	first := &pgconn.FallbackConfig{Host: cfg.Host, Port: cfg.Port, TLSConfig: cfg.TLSConfig}
	return append([]*pgconn.FallbackConfig{first}, cfg.Fallbacks...)
}

// placesOf returns the choices at each host and port.
func placesOf(cfg *pgconn.Config) map[string][]*pgconn.FallbackConfig {
	places := make(map[string][]*pgconn.FallbackConfig)
	for _, choice := range choices(cfg) {
		place := placeOf(choice.Host, choice.Port)
		places[place] = append(places[place], choice)
	}
	return places
}

func choose(cfg *pgconn.Config, from []*pgconn.FallbackConfig) {
	if len(from) > 0 {
		cfg.Host, cfg.Port, cfg.TLSConfig, cfg.Fallbacks = from[0].Host, from[0].Port, from[0].TLSConfig, from[1:]
	}
}

// watch starts to ask the hosts of a target, if it has several, and returns when each has been asked once, or the context has ended: who
// has just begun, or is over soon as a command is, may be connected to a former primary.
func (l *lineage) watch(ctx context.Context, t *target) {
	places := placesOf(&t.config.Config)
	if len(places) < 2 || l.stop != nil {
		return
	}
	watching, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	asked := make(chan struct{}, len(places))
	for place, choices := range places {
		own := *t // without the lineage: a standby may be asked, too
		own.lineage, own.config = nil, t.config.Copy()
		choose(&own.config.Config, choices)
		own.config.ValidateConnect, own.config.ConnectTimeout = nil, watchPatience
		own.config.RuntimeParams["application_name"] += "-watch"
		l.stopped.Go(func() {
			conn := l.look(watching, place, nil, &own)
			asked <- struct{}{}
			l.watchPlace(watching, place, conn, &own)
		})
	}
	for range places {
		select {
		case <-asked:
		case <-ctx.Done():
			return
		}
	}
}

// watchPlace asks a host again and again, over what look has returned before.
func (l *lineage) watchPlace(ctx context.Context, place string, conn *pgconn.PgConn, host *target) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(watchInterval):
			conn = l.look(ctx, place, conn, host)
		}
	}
	if conn != nil {
		_ = conn.Conn().Close()
	}
}

// look asks a host once, over a connection that it returns for the next time, or nil.
func (l *lineage) look(ctx context.Context, place string, conn *pgconn.PgConn, host *target) *pgconn.PgConn {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	if conn == nil {
		host.prepare(host.config)
		var err error
		if conn, err = pgconn.ConnectConfig(ctx, &host.config.Config); err != nil {
			return nil
		}
	}
	timeline, err := askTimeline(ctx, conn)
	if err != nil {
		_ = conn.Conn().Close()
		return nil
	}
	if timeline > 0 {
		l.learn(timeline, place)
	}
	return conn
}

func (l *lineage) close() {
	if l.stop != nil {
		l.stop()
		l.stopped.Wait()
	}
}
