package faults

import (
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestClones clones an edited paste of 2 MB with 200 clients at once. Each must get all of it or a 503, and other
// clients must be answered.
func TestClones(t *testing.T) {
	const clients, edits, tooMany = 200, 1, 17
	for _, s := range shippedInstallations {
		t.Run(s.name, func(t *testing.T) {
			cfg := database.SQLite(t)
			program.Fixture(t, cfg)
			settings := append(shippedSettings(t, s.files), fmt.Sprint("GOMEMLIMIT=", s.memory/10*9))
			node := program.Serve(t, cfg.URL, settings...)
			group := confine(t, node, s.memory)
			id, pasty := createEdited(t, node, edits)
			background := load{clients: 4, pause: 100 * time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
			alone := func() bool {
				err := clone(node, "127.0.5.1", id)
				if err != nil && !errors.Is(err, errBusy) {
					t.Fatalf("got %v for a clone without other clones, want the whole paste", err)
				}
				return err == nil
			}
			program.Eventually(t, "a clone alone has the whole paste", alone)
			background.cut().wantRightOr503(t, answerLimit)

			var successes, busy atomic.Int64
			var callers sync.WaitGroup
			begin := make(chan struct{})
			for i := range clients {
				callers.Go(func() {
					<-begin
					switch err := clone(node, fmt.Sprint("127.0.6.", 1+i), id); {
					case err == nil:
						successes.Add(1)
					case errors.Is(err, errBusy):
						busy.Add(1)
					default:
						t.Errorf("got %v, want the whole paste or 503", err)
					}
				})
			}
			close(begin)
			callers.Wait()
			for _, line := range node.Log() {
				if line["status"] == float64(http.StatusInternalServerError) {
					t.Errorf("got the line %v, want no status 500", line)
				}
			}
			others := background.stop()
			record(t, "clones of 2 MB with an edit", successes.Load(), fmt.Sprint("of ", clients))
			record(t, "clones that were refused with 503", busy.Load(), "")
			record(t, "lookups beside clones", fmt.Sprint(others, "; ", others.wait()), "all right, or 503")
			others.wantRightOr503(t, answerLimit)
			if others.right == 0 || successes.Load() == 0 {
				t.Errorf("got %d right lookups beside %d whole clones, want some of each", others.right, successes.Load())
			}
			program.Eventually(t, "a clone after the others has the whole paste", alone)
			wantNotKilled(t, group)
			peak := peakMemory(t, node) - memory(t, node, "RssFile")
			record(t, "peak of memory, without the program's file", mib(peak), "below "+mib(s.memory))
			if peak > s.memory {
				t.Errorf("got %s of memory, want at most %s", mib(peak), mib(s.memory))
			}

			for i := range tooMany - edits {
				edit(t, node, id, pasty, edits+i)
			}
			program.Eventually(t, "a clone of a long history is refused with a sentence", func() bool {
				err := clone(node, "127.0.5.1", id)
				return err != nil && strings.Contains(err.Error(), "too long to clone")
			})
		})
	}
}

// manyLines returns code of 2 MB whose first line has its version.
func manyLines(version int) string {
	var code strings.Builder
	_, _ = fmt.Fprintln(&code, "version", version)
	for i := 0; code.Len() < 2_000_000; i++ {
		sum := sha1.Sum([]byte{byte(i)})
		_, _ = fmt.Fprintf(&code, "%x %x the same as before, and as the next one %d\n", sum, i*i, i)
	}
	return code.String()
}

// createEdited creates a paste, edits it, and returns the ids of the paste and of its pasty.
func createEdited(t *testing.T, node *program.Process, edits int) (id, pasty string) {
	t.Helper()
	var created struct {
		ID      string `json:"_id"`
		Pasties []struct {
			ID string `json:"_id"`
		}
	}
	answer := change(t, node, http.MethodPost, "/paste", map[string]string{"code": manyLines(0)})
	if err := json.Unmarshal(answer, &created); err != nil || len(created.Pasties) != 1 {
		t.Fatalf("got %.300s, %v, want a paste", answer, err)
	}
	for i := range edits {
		edit(t, node, created.ID, created.Pasties[0].ID, i)
	}
	return created.ID, created.Pasties[0].ID
}

func edit(t *testing.T, node *program.Process, id, pasty string, number int) {
	t.Helper()
	change(t, node, http.MethodPatch, "/paste/"+id, map[string]string{"_id": pasty, "code": manyLines(1 + number)})
}

func change(t *testing.T, node *program.Process, method, path string, pasty map[string]string) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{"pasties": []any{pasty}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+node.Address+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", program.EpoxyToken)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: got %s %.300s, %v, want 200", method, path, answer.Status, text, err)
	}
	return text
}

// errBusy stands for a 503 with Retry-After.
var errBusy = errors.New("503")

// clone clones a paste as Git does, from one of the machine's addresses, and checks that the objects are complete.
func clone(node *program.Process, address, id string) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	ask := func(method, path, body string) ([]byte, error) {
		r, err := http.NewRequest(method, "http://"+node.Address+"/"+id+".git/"+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Git-Protocol", "version=2")
		r.Header.Set("Accept", "*/*")
		answer, err := (&http.Client{Transport: transport, Timeout: 10 * answerLimit}).Do(r)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close() //nolint:errcheck // it was read
		text, err := io.ReadAll(answer.Body)
		switch {
		case err != nil:
			return nil, err
		case answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "":
			return nil, errBusy
		case answer.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("%s %.300s", answer.Status, text)
		}
		return text, nil
	}
	if _, err := ask(http.MethodGet, "info/refs?service=git-upload-pack", ""); err != nil {
		return err
	}
	refs, err := ask(http.MethodPost, "git-upload-pack", "0014command=ls-refs\n00010000")
	if err != nil {
		return err
	}
	if len(refs) < 44 {
		return fmt.Errorf("got the references %q, want a commit", refs)
	}
	answer, err := ask(http.MethodPost, "git-upload-pack", "0011command=fetch0001000fno-progress"+
		"0032want "+string(refs[4:44])+"\n0009done\n0000")
	if err != nil {
		return err
	}
	return wholePack(answer)
}

// wholePack checks that an answer has a complete pack, which ends with its hash.
func wholePack(answer []byte) error {
	var pack []byte
	for len(answer) >= 4 {
		length, err := strconv.ParseUint(string(answer[:4]), 16, 16)
		if err != nil || int(length) > len(answer) {
			return fmt.Errorf("got %.300q, want packets", answer)
		}
		length = max(length, 4)
		if packet := answer[4:length]; len(packet) > 0 && packet[0] == 1 { // the channel of the pack
			pack = append(pack, packet[1:]...)
		}
		answer = answer[length:]
	}
	if len(pack) <= sha1.Size || !bytes.HasPrefix(pack, []byte("PACK")) {
		return fmt.Errorf("got %d bytes of a pack, want all of it", len(pack))
	}
	end := len(pack) - sha1.Size
	if sum := sha1.Sum(pack[:end]); !bytes.Equal(sum[:], pack[end:]) {
		return fmt.Errorf("got a pack of %d bytes with the wrong hash", len(pack))
	}
	return nil
}
