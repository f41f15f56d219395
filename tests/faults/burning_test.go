package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// burningPaste is one that is opened by several readers at once, each of whom asks again until there is an answer.
type burningPaste struct {
	id    string
	given atomic.Int32
}

// TestKilledWhileBurning kills a node and PostgreSQL at random instants while readers open burning pastes, through a
// proxy that repeats failed requests: no paste is delivered twice, and none is left in the end. A reader may get
// nothing.
func TestKilledWhileBurning(t *testing.T) {
	t.Parallel()
	const rounds, pastes, readers = 4, 40, 4
	onEachToKill(t, func(t *testing.T, cfg gormstore.Config, kill func()) {
		settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
			"GLUEPOT_LIMIT_ANONYMOUS_PASTES=0"}
		lost, retried := 0, new(atomic.Int32)
		for round := range rounds {
			nodes := []*program.Process{program.Start(t, settings, "serve")}
			if !onSQLite(cfg) {
				nodes = append(nodes, program.Start(t, settings, "serve"))
			}
			addresses := new(atomic.Pointer[[]string])
			addresses.Store(addressesOf(nodes))
			burning := make([]*burningPaste, pastes)
			for i := range burning {
				burning[i] = &burningPaste{id: newBurning(t, nodes[0].Address)}
			}
			var reading sync.WaitGroup
			begin := make(chan struct{})
			for reader := range readers {
				reading.Go(func() {
					<-begin
					for _, one := range burning {
						one.open(t, addresses, reader, retried)
					}
				})
			}
			close(begin)
			time.Sleep(rand.N(100 * time.Millisecond))
			_ = nodes[0].Cmd.Process.Kill()
			<-nodes[0].Exited
			if round%2 == 1 {
				kill()
			}
			nodes[0] = program.Start(t, settings, "serve")
			addresses.Store(addressesOf(nodes))
			reading.Wait()
			for _, one := range burning {
				switch times := one.given.Load(); times {
				case 0:
					lost++
				case 1:
				default:
					t.Errorf("got %s given to %d readers, want one at most", one.id, times)
				}
			}
			for _, node := range nodes {
				_ = node.Cmd.Process.Kill()
				<-node.Exited
			}
		}
		if rows := number(t, database.SQL(t, cfg), "SELECT count(*) FROM pastes"); rows > 0 {
			t.Errorf("got %d pastes left, want none: each was opened", rows)
		}
		if lost > rounds*2*readers {
			t.Errorf("got %d pastes that no reader has got, want at most those that were being opened when something was killed",
				lost)
		}
		record(t, "pastes that burnt, got by no reader, given twice", fmt.Sprint(rounds*pastes, ", ", lost, ", 0"), "0 twice")
		record(t, "requests sent again", retried.Load(), "")
	})
}

func addressesOf(nodes []*program.Process) *[]string {
	var all []string
	for _, node := range nodes {
		node.WaitForAddress()
		all = append(all, node.Address)
	}
	return &all
}

func newBurning(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Post("http://"+address+"/paste", "application/json",
		strings.NewReader(`{"burn":true,"pasties":[{"code":"s3cret"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	var made struct {
		ID string `json:"_id"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.ID == "" {
		t.Fatalf("got %s, %v, want a paste", answer.Status, err)
	}
	return made.ID
}

// open asks for the paste until it is given, or not there, as a proxy does. What broke off half-way was given, too.
func (p *burningPaste) open(t *testing.T, addresses *atomic.Pointer[[]string], reader int, retried *atomic.Int32) {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(program.Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		nodes := *addresses.Load()
		answer, err := client.Post("http://"+nodes[reader%len(nodes)]+"/open/"+p.id, "", nil)
		reader++
		if err != nil {
			retried.Add(1)
			continue
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK || strings.Contains(string(body), "s3cret") {
			p.given.Add(1)
			return
		}
		if answer.StatusCode == http.StatusNotFound {
			return
		}
		retried.Add(1)
	}
	t.Errorf("%s: got no answer within %v, want one", p.id, program.Patience)
}
