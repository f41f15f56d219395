package application

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	domain "github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// events returns the events that the operator was told of since the last call.
func (w *world) events() (told []notice.Event) {
	for _, n := range w.notices {
		told = append(told, n.Event)
	}
	w.notices = nil
	return told
}

func (w *world) wantTold(t *testing.T, what string, want ...notice.Event) {
	t.Helper()
	if got := w.events(); !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestOperatorIsToldOfAdministrators once, when a user becomes one.
func TestOperatorIsToldOfAdministrators(t *testing.T) {
	t.Parallel()
	w := newWorld()
	yes, no, public := true, false, true
	update := func(change users.UpdateInput) {
		t.Helper()
		if _, err := w.users.Update.Do(t.Context(), audit.Operator(), "epoxy", change); err != nil {
			t.Fatal(err)
		}
	}
	w.user(t, users.CreateInput{Name: "epoxy"})
	w.wantTold(t, "a user")
	w.user(t, users.CreateInput{Name: "mia", Admin: true})
	w.wantTold(t, "an administrator", notice.NewAdministrator)
	update(users.UpdateInput{PublicProfile: &public})
	w.wantTold(t, "another change")
	update(users.UpdateInput{Admin: &yes})
	if len(w.notices) != 1 || w.notices[0].Subject == "" || !w.notices[0].At.Equal(w.now) {
		t.Errorf("got %+v, want it to say who and when", w.notices)
	}
	w.wantTold(t, "made one", notice.NewAdministrator)
	update(users.UpdateInput{Admin: &yes})
	w.wantTold(t, "again")
	update(users.UpdateInput{Admin: &no})
	w.wantTold(t, "unmade")
	if _, err := w.users.Create.Do(t.Context(), audit.Operator(),
		users.CreateInput{Name: "mia", Admin: true}); err == nil {
		t.Error("got no error for a name that is taken, want one")
	}
	w.wantTold(t, "one that was not created")
}

// reporter stores reports, unless it fails.
type reporter struct {
	domain.Store
	err error
}

func (r reporter) Report(context.Context, netip.Addr, domain.Report, user.ID, paste.Client, paste.Quota) error {
	return r.err
}

func TestOperatorIsToldOfReports(t *testing.T) {
	t.Parallel()
	w := newWorld()
	report := func(err error, reason string) error {
		use := moderation.New(reporter{err: err}, w.userStore, nil, nil, w.notify, w.clock).Report
		return use.Do(t.Context(), by(token.Viewer{}), "k2j4x8m1", reason, "The text of a reader.")
	}
	if err := report(nil, "spam"); err != nil {
		t.Fatal(err)
	}
	if len(w.notices) != 1 || w.notices[0].Subject != "k2j4x8m1" {
		t.Errorf("got %+v, want the id of the paste", w.notices)
	}
	w.wantTold(t, "a report", notice.NewReport)
	for what, err := range map[string]error{
		"no reason": report(nil, "boredom"), "not stored": report(fault.New(fault.NotFound, "No."), "spam"),
	} {
		if err == nil {
			t.Errorf("%s: got no error, want one", what)
		}
		w.wantTold(t, what)
	}
}

// TestOperatorIsToldOfAFullStore once at four fifths and once at the first refusal, and again after there was room.
func TestOperatorIsToldOfAFullStore(t *testing.T) {
	t.Parallel()
	w := newWorld()
	options := pasteOptions
	options.MaxBytes, options.Notify = 1000, w.notify
	use := pastes.New(w.pasteStore, w.userStore, options, func() time.Time { return w.now })
	code := "x"
	create := func() error {
		_, err := use.CreateOwn.Do(t.Context(), by(token.Viewer{}), paste.Draft{Pasties: []paste.PastyDraft{{Code: &code}}})
		return err
	}
	for range 2 {
		use.SizeLimit.SetUsed(799)
		w.wantTold(t, "below")
		use.SizeLimit.SetUsed(800)
		w.wantTold(t, "four fifths", notice.StoreNearlyFull)
		use.SizeLimit.SetUsed(999)
		w.wantTold(t, "above")
		if err := create(); err != nil {
			t.Errorf("got %v, want a paste", err)
		}
		w.wantTold(t, "a paste that fits")
		use.SizeLimit.SetUsed(1000)
		w.wantTold(t, "at the limit, where nothing was refused yet")
		for range 3 {
			if err := create(); !fault.Is(err, fault.Unavailable) {
				t.Errorf("got %v, want it refused", err)
			}
		}
		w.wantTold(t, "refused", notice.StoreFull)
	}
}
