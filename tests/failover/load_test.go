package failover

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/program"
)

const (
	// answerLimit is how long a client waits before it takes a request for lost: longer than a node may take for an
	// answer.
	answerLimit = 30 * time.Second
	// pause is what a client rests between two requests: the figures are of a service that is used, not of one that is
	// full.
	pause = 100 * time.Millisecond
	// turns is how often a paste is changed before its writer takes another.
	turns = 40
)

// kind is what a client does.
type kind int

const (
	writing kind = iota // creates pastes and changes them
	// reads pastes that are being changed, which must be as new as the last change that was acknowledged
	reading
	readingPublic // reads a profile, which may come from a replica
	kinds
)

// group is the nodes that find the primary in one way, their clients, and what became of the requests.
type group struct {
	name  string
	nodes []*program.Process

	mu          sync.Mutex
	exchanges   [kinds][]exchange
	unavailable int      // answers with 503
	wrong       []string // every other answer, and none at all
	acked       int      // writes
}

// exchange is a request that has ended.
type exchange struct {
	began, ended time.Time
	right        bool // its answer
}

// register is a paste whose title counts. Only its writer changes it, and takes another once it does not know whether a
// change was made, since that may still be.
type register struct {
	id           string
	mu           sync.Mutex
	acked, tried int
}

func (r *register) read() (acked, tried int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.acked, r.tried
}

// load is the clients of all groups.
type load struct {
	groups  []*group
	stop    context.CancelFunc
	clients sync.WaitGroup

	mu        sync.Mutex
	registers []*register // those that were acknowledged
}

// startLoad lets two clients of each node write, two read, and one read what is public.
func startLoad(groups []*group) *load {
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{groups: groups, stop: cancel}
	for _, g := range groups {
		g.exchanges, g.unavailable, g.wrong, g.acked = [kinds][]exchange{}, 0, nil, 0
		for _, node := range g.nodes {
			for _, work := range []func(context.Context, *client){l.write, l.write, l.read, l.read, l.readPublic} {
				c := &client{group: g, node: node.Address, http: http.Client{Timeout: answerLimit, Transport: &http.Transport{}}}
				l.clients.Go(func() {
					defer c.http.CloseIdleConnections()
					work(ctx, c)
				})
			}
		}
	}
	return l
}

// end stops the clients, each after its request, and returns when they had.
func (l *load) end() time.Time {
	l.stop()
	l.clients.Wait()
	return time.Now()
}

type client struct {
	group *group
	node  string
	http  http.Client
}

// rest waits until the next request, and reports whether there is one.
func rest(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause/2 + rand.N(pause)):
		return true
	}
}

// document is what is read of a paste.
type document struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
}

func (l *load) write(ctx context.Context, c *client) {
	var own *register
	for rest(ctx) {
		if own == nil {
			var created document
			body := `{"title":"0","pasties":[{"title":"main.go","language":"Go","code":"package main"}]}`
			check := func() string { return wantTitle(created, 0, 0) }
			if c.exchange(writing, http.MethodPost, "/paste", body, &created, check) {
				own = &register{id: created.ID}
				l.mu.Lock()
				l.registers = append(l.registers, own)
				l.mu.Unlock()
			}
			continue
		}
		own.mu.Lock()
		own.tried++
		next := own.tried
		own.mu.Unlock()
		var changed document
		ok := c.exchange(writing, http.MethodPatch, "/paste/"+own.id, fmt.Sprintf(`{"title":"%d"}`, next), &changed,
			func() string { return wantTitle(changed, next, next) })
		if ok {
			own.mu.Lock()
			own.acked = next
			own.mu.Unlock()
		}
		if !ok || next == turns {
			own = nil
		}
	}
}

func (l *load) read(ctx context.Context, c *client) {
	for rest(ctx) {
		l.mu.Lock()
		count := len(l.registers)
		if count == 0 {
			l.mu.Unlock()
			continue
		}
		latest := l.registers[max(0, count-1-rand.IntN(20))]
		l.mu.Unlock()
		least, _ := latest.read()
		var read document
		c.exchange(reading, http.MethodGet, "/paste/"+latest.id, "", &read, func() string {
			_, most := latest.read()
			return wantTitle(read, least, most)
		})
	}
}

// wantTitle says what is wrong with a paste whose title is to be a number of that range, if anything is.
func wantTitle(got document, least, most int) string {
	if number, err := strconv.Atoi(got.Title); err != nil || number < least || number > most || got.ID == "" {
		return fmt.Sprintf("got %+v, want a title from %d to %d", got, least, most)
	}
	return ""
}

const publicProfile = `{"_id":"epoxy001","username":"Epoxy",` +
	`"avatarUrl":"https://example.com/a?b=<c>&d","defaultLang":"C++",` +
	`"publicProfile":true,"supporterLength":24,"contributor":true}`

func (l *load) readPublic(ctx context.Context, c *client) {
	for rest(ctx) {
		var body string
		c.exchange(readingPublic, http.MethodGet, "/user/epoxy", "", &body, func() string {
			if body != publicProfile {
				return fmt.Sprintf("got %s, want %s", body, publicProfile)
			}
			return ""
		})
	}
}

// exchange sends a request, notes what became of it and reports whether the answer was right. wrong says what is wrong
// with the answer, which is in into by then.
func (c *client) exchange(of kind, method, path, body string, into any, wrong func() string) bool {
	began := time.Now()
	request, err := http.NewRequestWithContext(context.Background(), method, "http://"+c.node+path,
		bytes.NewBufferString(body))
	if err != nil {
		panic(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if of != readingPublic {
		request.Header.Set("Authorization", program.EpoxyToken)
	}
	status, content, err := c.do(request)
	complaint := ""
	switch text, ok := into.(*string); {
	case err != nil:
		complaint = err.Error()
	case status == http.StatusServiceUnavailable:
	case status != http.StatusOK:
		complaint = fmt.Sprintf("got %d %.200s", status, content)
	case ok:
		*text = string(content)
		complaint = wrong()
	case json.Unmarshal(content, into) != nil:
		complaint = fmt.Sprintf("got %.200s, want JSON", content)
	default:
		complaint = wrong()
	}
	ended := time.Now()
	g := c.group
	g.mu.Lock()
	defer g.mu.Unlock()
	right := complaint == "" && status == http.StatusOK
	g.exchanges[of] = append(g.exchanges[of], exchange{began, ended, right})
	switch {
	case complaint != "":
		g.wrong = append(g.wrong,
			fmt.Sprintf("%s %s from %s to %s: %s", method, path, began.Format(clockTime), ended.Format(clockTime), complaint))
	case status == http.StatusServiceUnavailable:
		g.unavailable++
	case of == writing:
		g.acked++
	}
	return right
}

const clockTime = "15:04:05.000"

func (c *client) do(request *http.Request) (status int, body []byte, err error) {
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// without returns the longest time in which somebody was asking and nobody had a right answer: from the end of a right
// one, or from the first request after it, to the end of the next.
func (g *group) without(of kind, ended time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	sorted := append(slices.Clone(g.exchanges[of]), exchange{began: ended, ended: ended, right: true})
	slices.SortFunc(sorted, func(a, b exchange) int { return a.ended.Compare(b.ended) })
	begins := make([]time.Time, len(sorted)) // when the first was of those that ended then or later
	for i, first := len(sorted)-1, ended; i >= 0; i-- {
		if sorted[i].began.Before(first) {
			first = sorted[i].began
		}
		begins[i] = first
	}
	longest, since := time.Duration(0), begins[0]
	for i, e := range sorted {
		if !e.right {
			continue
		}
		longest, since = max(longest, e.ended.Sub(since)), e.ended
		if i+1 < len(sorted) && begins[i+1].After(since) {
			since = begins[i+1]
		}
	}
	return longest
}

// answers is what became of requests of a kind.
type answers struct {
	requests, right int
	slowest         time.Duration // of all
}

func (g *group) answers(of kind) (a answers) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.exchanges[of] {
		a.requests++
		if e.right {
			a.right++
		}
		a.slowest = max(a.slowest, e.ended.Sub(e.began))
	}
	return a
}

// lost counts the registers whose last acknowledged change, or which themselves, are not there, by the answers of a
// node.
func (l *load) lost(t *testing.T, node *program.Process) (lost int) {
	t.Helper()
	for _, r := range l.registers {
		g := &group{}
		c := &client{group: g, node: node.Address, http: http.Client{Timeout: answerLimit}}
		acked, tried := r.read()
		within(t, settlingTime, "the node answers", func() bool { // with something else than 503
			var read document
			return c.exchange(reading, http.MethodGet, "/paste/"+r.id, "", &read, func() string {
				return wantTitle(read, acked, tried)
			}) ||
				len(g.wrong) > 0
		})
		if len(g.wrong) > 0 {
			lost++
			t.Errorf("an acknowledged write is lost: %s", g.wrong[0])
		}
		c.http.CloseIdleConnections()
	}
	return lost
}
