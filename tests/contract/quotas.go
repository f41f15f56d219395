package contract

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
)

// wantExhausted checks the error of a client that has nothing left of its quota.
func wantExhausted(t *testing.T, err error, quota paste.Quota) {
	t.Helper()
	wantKind(t, err, fault.Exhausted)
	refused, ok := errors.AsType[*paste.QuotaError](err)
	if !ok {
		t.Fatalf("got %v, want a *QuotaError in its chain", err)
	}
	if refused.Quota != quota || refused.Retry <= 0 || refused.Retry > quota.Interval() {
		t.Errorf("got %+v, want to wait for an interval at most", refused)
	}
}

func quotas(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	quota := paste.Quota{Pastes: 2, Window: time.Hour}
	stored := 0
	var used paste.Usage
	create := func(client paste.Client) (err error) {
		created := newDocument(paste.ID(fmt.Sprint("paste", stored)))
		used, err = s.Documents.CreateAllowed(t.Context(), nowhere, paste.Allowance{Rate: quota}, client, created)
		if err == nil {
			stored++
			wantStored(t, s, string(client), created)
		}
		return err
	}
	for _, client := range []paste.Client{"192.0.2.1", "192.0.2.2", "", "\x00\xff", "192.0.2.1\x00"} {
		for i := range quota.Pastes {
			must(t, create(client))
			want(t, "left", used.Left(), quota.Pastes-1-i)
			if least, most := time.Duration(i)*quota.Interval(), time.Duration(i+1)*quota.Interval(); used.Full <= least ||
				used.Full > most {
				t.Errorf("got all of the quota again after %v, want more than %v and %v at most", used.Full, least, most)
			}
		}
		for range 2 {
			wantExhausted(t, create(client), quota)
		}
		wantNoDocument(t, s, paste.ID(fmt.Sprint("paste", stored)))
	}
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "pastes", count, int64(stored))

	// A paste that could not be stored is not counted.
	for range 3 * quota.Pastes {
		_, err := s.Documents.CreateAllowed(t.Context(), nowhere, paste.Allowance{Rate: quota}, "unlucky",
			newDocument("paste0"))
		wantIDTaken(t, err)
	}
	_, err = s.Documents.CreateAllowed(cancelled(t), nowhere, paste.Allowance{Rate: quota}, "unlucky", newDocument("late"))
	wantKind(t, err, fault.Unavailable)
	for range quota.Pastes {
		must(t, create("unlucky"))
	}
	// Others are not counted.
	must(t, s.Documents.CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: "operator", CreatedAt: now}}))
	must(t, s.Documents.CreateDocument(t.Context(),
		paste.Document{Paste: paste.Paste{ID: "own", Owner: owner, CreatedAt: now}}))
	wantNoDocument(t, s, "late")
	forgotten, err := s.Documents.ForgetClients(t.Context(), 100)
	must(t, err)
	want(t, "forgotten within the hour", forgotten, 0)
	_, err = s.Documents.ForgetClients(cancelled(t), 100)
	wantKind(t, err, fault.Unavailable)
	finished, err := s.Documents.FinishDeletions(t.Context(), 100)
	must(t, err)
	want(t, "taken of users whose deletion was interrupted", finished, 0)
	_, err = s.Documents.FinishDeletions(cancelled(t), 100)
	wantKind(t, err, fault.Unavailable)
}

// quotasPass creates again when it is allowed, and has clients forgotten who have all of their quota again.
func quotasPass(t *testing.T, s DocumentStore) {
	quota := paste.Quota{Pastes: 1, Window: 50 * time.Millisecond}
	for i := range 3 {
		var err error
		id := paste.ID(fmt.Sprint("paste", i))
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			_, err = s.Documents.CreateAllowed(t.Context(), nowhere, paste.Allowance{Rate: quota}, "back", newDocument(id))
			if !fault.Is(err, fault.Exhausted) {
				break
			}
		}
		must(t, err)
		_, err = s.Documents.CreateAllowed(t.Context(), nowhere, paste.Allowance{Rate: quota}, paste.Client(id),
			newDocument("x"+id))
		must(t, err)
	}
	one := paste.Allowance{Rate: paste.Quota{Pastes: 1, Window: time.Hour}}
	_, err := s.Documents.CreateAllowed(t.Context(), nowhere, one, "stays", newDocument("stays"))
	must(t, err)
	forgotten := 0
	for deadline := time.Now().Add(time.Minute); forgotten < 4 &&
		time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		n, err := s.Documents.ForgetClients(t.Context(), 1)
		must(t, err)
		forgotten += n
	}
	want(t, "forgotten", forgotten, 4)
	_, err = s.Documents.CreateAllowed(t.Context(), nowhere, one, "stays", newDocument("more"))
	wantKind(t, err, fault.Exhausted)
}

// quotasMeet has several callers create for the same clients, in different orders: each client gets its quota and no
// more, whichever of them share a statement.
func quotasMeet(t *testing.T, s DocumentStore) {
	quota := paste.Quota{Pastes: 7, Window: time.Hour}
	clients := []paste.Client{"a", "b", "c", "d", "e"}
	var (
		mu      sync.Mutex
		granted = make(map[paste.Client][]paste.ID)
		refused []paste.ID
	)
	const at = 3 // requests of each caller for each client, at once
	wantNoErrors(t, meet(func(caller int) error {
		order := slices.Clone(clients)
		if caller%2 == 1 {
			slices.Reverse(order)
		}
		var (
			all  sync.WaitGroup
			errs = make([]error, at*len(order))
		)
		for i := range errs {
			all.Go(func() {
				client, id := order[i%len(order)], paste.ID(ident.New())
				created := paste.Document{Paste: paste.Paste{ID: id, CreatedAt: now}, Content: paste.Content{Title: string(id)}}
				_, err := s.Documents.CreateAllowed(t.Context(), nowhere, paste.Allowance{Rate: quota}, client, created)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					granted[client] = append(granted[client], id)
				case fault.Is(err, fault.Exhausted):
					refused = append(refused, id)
				default:
					errs[i] = err
				}
			})
		}
		all.Wait()
		return errors.Join(errs...)
	}))
	for _, client := range clients {
		want(t, "pastes of "+string(client), len(granted[client]), quota.Pastes)
		for _, id := range granted[client] {
			doc, err := s.Documents.DocumentByID(t.Context(), id)
			must(t, err)
			want(t, "title", doc.Title, string(id))
		}
	}
	want(t, "refused", len(refused), len(clients)*(at*callers-quota.Pastes))
	for _, id := range refused {
		wantNoDocument(t, s, id)
	}
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "pastes", count, int64(len(clients)*quota.Pastes))
}

// forgettersMeet has several callers forget at once: each client is forgotten once.
func forgettersMeet(t *testing.T, s DocumentStore) {
	const clients = 40
	for i := range clients {
		brief := paste.Allowance{Rate: paste.Quota{Pastes: 1, Window: time.Millisecond}}
		_, err := s.Documents.CreateAllowed(t.Context(), nowhere, brief, paste.Client(fmt.Sprint(i)),
			newDocument(paste.ID(fmt.Sprint("paste", i))))

		must(t, err)
	}
	time.Sleep(time.Millisecond) // all have their quota again
	var (
		mu        sync.Mutex
		forgotten int
	)
	wantNoErrors(t, meet(func(int) error {
		for range clients / callers {
			n, err := s.Documents.ForgetClients(t.Context(), 3)
			if err != nil {
				return err
			}
			mu.Lock()
			forgotten += n
			mu.Unlock()
		}
		return nil
	}))
	for n := 1; n > 0; forgotten += n {
		var err error
		n, err = s.Documents.ForgetClients(t.Context(), clients)
		must(t, err)
	}
	want(t, "forgotten", forgotten, clients)
}
