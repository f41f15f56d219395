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

// TestPreviews checks that previews are limited as creating is, and count for themselves.
func TestPreviews(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	quota := paste.Quota{Pastes: 2, Window: time.Hour}
	options := pastes.Options{AnonymousQuota: quota, Allowance: paste.Allowance{Rate: quota}}
	of := pastes.New(d.PasteStore, d.UserStore, options, d.Clock)
	somebody := audit.By(visitor, netip.MustParseAddr("192.0.2.1"))
	for name, actor := range map[string]audit.Actor{
		"a visitor": somebody, "another one": audit.By(visitor, netip.MustParseAddr("192.0.2.2")),
		"a user": audit.By(d.mia, netip.MustParseAddr("192.0.2.1")),
	} {
		for range quota.Pastes {
			if err := of.Preview.Do(actor); err != nil {
				t.Fatalf("%s: got %v, want as many previews as pastes", name, err)
			}
		}
		err := of.Preview.Do(actor)
		if used, ok := errors.AsType[*paste.QuotaError](err); !fault.Is(err, fault.Exhausted) || !ok ||
			used.Retry != quota.Interval() {
			t.Errorf("%s: got %v, want no more for %v", name, err, quota.Interval())
		}
	}
	d.Now = d.Now.Add(quota.Interval())
	if err := of.Preview.Do(somebody); err != nil {
		t.Errorf("got %v after a while, want one more", err)
	}
	options.TokenRequired = true
	of = pastes.New(d.PasteStore, d.UserStore, options, d.Clock)
	if err := of.Preview.Do(somebody); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v for a visitor who may not create, want fault.Unauthenticated", err)
	}
	if err := of.Preview.Do(audit.Operator()); !fault.Is(err, fault.Forbidden) {
		t.Errorf("got %v for the operator, want fault.Forbidden", err)
	}
}
