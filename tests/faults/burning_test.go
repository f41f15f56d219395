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

// burningPaste is a paste that several readers open at once. Each repeats its request until it gets an answer.
type burningPaste struct {
	id         string
	deliveries atomic.Int32
}

// TestKilledWhileBurning kills a node and PostgreSQL at random instants while readers open burning pastes, and repeat
// failed requests as a proxy does. No paste may be delivered twice, and none may remain. A paste may be lost.
func TestKilledWhileBurning(t *testing.T) {
	t.Parallel()
	const rounds, pastes, readers = 4, 40, 4
	onEachToKill(t, func(t *testing.T, cfg gormstore.Config, kill func()) {
		settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
			"GLUEPOT_LIMIT_ANONYMOUS_PASTES=0"}
		lost, retries := 0, new(atomic.Int32)
		for round := range rounds {
			nodes := []*program.Process{program.Start(t, settings, "serve")}
			if !onSQLite(cfg) {
				nodes = append(nodes, program.Start(t, settings, "serve"))
			}
			addresses := new(atomic.Pointer[[]string])
			addresses.Store(addressesOf(nodes))
			burning := make([]*burningPaste, pastes)
			for i := range burning {
				burning[i] = &burningPaste{id: createBurning(t, nodes[0].Address)}
			}
			var callers sync.WaitGroup
			begin := make(chan struct{})
			for reader := range readers {
				callers.Go(func() {
					<-begin
					for _, p := range burning {
						p.open(t, addresses, reader, retries)
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
			callers.Wait()
			for _, p := range burning {
				switch times := p.deliveries.Load(); times {
				case 0:
					lost++
				case 1:
				default:
					t.Errorf("got %s delivered to %d readers, want at most one", p.id, times)
				}
			}
			for _, node := range nodes {
				_ = node.Cmd.Process.Kill()
				<-node.Exited
			}
		}
		if rows := number(t, database.SQL(t, cfg), "SELECT count(*) FROM pastes"); rows > 0 {
			t.Errorf("got %d remaining pastes, want none: each was opened", rows)
		}
		if lost > rounds*2*readers {
			t.Errorf("got %d lost pastes, want at most those that were being opened when something was killed",
				lost)
		}
		record(t, "pastes burnt, lost, delivered twice", fmt.Sprint(rounds*pastes, ", ", lost, ", 0"), "0 twice")
		record(t, "repeated requests", retries.Load(), "")
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

func createBurning(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Post("http://"+address+"/paste", "application/json",
		strings.NewReader(`{"burn":true,"pasties":[{"code":"s3cret"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	var created struct {
		ID string `json:"_id"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&created); err != nil || created.ID == "" {
		t.Fatalf("got %s, %v, want a paste", answer.Status, err)
	}
	return created.ID
}

// open requests the paste until it is delivered or gone, as a proxy does. An answer that breaks off counts as
// delivered.
func (p *burningPaste) open(t *testing.T, addresses *atomic.Pointer[[]string], reader int, retries *atomic.Int32) {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(program.Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		nodes := *addresses.Load()
		answer, err := client.Post("http://"+nodes[reader%len(nodes)]+"/open/"+p.id, "", nil)
		reader++
		if err != nil {
			retries.Add(1)
			continue
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK || strings.Contains(string(body), "s3cret") {
			p.deliveries.Add(1)
			return
		}
		if answer.StatusCode == http.StatusNotFound {
			return
		}
		retries.Add(1)
	}
	t.Errorf("%s: got no answer within %v, want one", p.id, program.Patience)
}
