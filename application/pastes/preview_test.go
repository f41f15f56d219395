package pastes_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// TestPreviews checks that previews have the limits of creating, counted apart.
func TestPreviews(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	quota := paste.Quota{Pastes: 2, Window: time.Hour}
	options := pastes.Options{AnonymousQuota: quota, Allowance: paste.Allowance{Rate: quota}}
	useCases := pastes.New(f.PasteStore, f.UserStore, options, f.Clock)
	somebody := audit.By(visitor, netip.MustParseAddr("192.0.2.1"))
	for name, actor := range map[string]audit.Actor{
		"a visitor": somebody, "another one": audit.By(visitor, netip.MustParseAddr("192.0.2.2")),
		"a user": audit.By(f.mia, netip.MustParseAddr("192.0.2.1")),
	} {
		for range quota.Pastes {
			if err := useCases.Preview.Do(actor); err != nil {
				t.Fatalf("%s: got %v, want as many previews as pastes", name, err)
			}
		}
		err := useCases.Preview.Do(actor)
		if quotaErr, ok := errors.AsType[*paste.QuotaError](err); !fault.Is(err, fault.Exhausted) || !ok ||
			quotaErr.Retry != quota.Interval() {
			t.Errorf("%s: got %v, want a QuotaError with a retry in %v", name, err, quota.Interval())
		}
	}
	f.Now = f.Now.Add(quota.Interval())
	if err := useCases.Preview.Do(somebody); err != nil {
		t.Errorf("an interval later: got %v, want no error", err)
	}
	options.TokenRequired = true
	useCases = pastes.New(f.PasteStore, f.UserStore, options, f.Clock)
	if err := useCases.Preview.Do(somebody); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a visitor who may not create: got %v, want fault.Unauthenticated", err)
	}
	if err := useCases.Preview.Do(audit.Operator()); !fault.Is(err, fault.Forbidden) {
		t.Errorf("the operator: got %v, want fault.Forbidden", err)
	}
}
