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
	"github.com/gluepot/gluepot/tests/modules"
)

// takeEvents returns the events that the operator was told of since the last call.
func takeEvents(m *modules.Modules) (events []notice.Event) {
	for _, n := range m.Notices {
		events = append(events, n.Event)
	}
	m.Notices = nil
	return events
}

func wantEvents(t *testing.T, m *modules.Modules, what string, want ...notice.Event) {
	t.Helper()
	if got := takeEvents(m); !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestOperatorIsToldOfAdministrators checks that there is one notice when a user becomes an administrator.
func TestOperatorIsToldOfAdministrators(t *testing.T) {
	t.Parallel()
	m := modules.New()
	yes, no, public := true, false, true
	update := func(change users.UpdateInput) {
		t.Helper()
		if _, err := m.Users.Update.Do(t.Context(), audit.Operator(), "epoxy", change); err != nil {
			t.Fatal(err)
		}
	}
	m.CreateUser(t, users.CreateInput{Name: "epoxy"})
	wantEvents(t, m, "a user")
	m.CreateUser(t, users.CreateInput{Name: "mia", Admin: true})
	wantEvents(t, m, "an administrator", notice.NewAdministrator)
	update(users.UpdateInput{PublicProfile: &public})
	wantEvents(t, m, "another change")
	update(users.UpdateInput{Admin: &yes})
	if len(m.Notices) != 1 || m.Notices[0].Subject == "" || !m.Notices[0].At.Equal(m.Now) {
		t.Errorf("got %+v, want one notice with its subject and time", m.Notices)
	}
	wantEvents(t, m, "promoted", notice.NewAdministrator)
	update(users.UpdateInput{Admin: &yes})
	wantEvents(t, m, "again")
	update(users.UpdateInput{Admin: &no})
	wantEvents(t, m, "demoted")
	if _, err := m.Users.Create.Do(t.Context(), audit.Operator(),
		users.CreateInput{Name: "mia", Admin: true}); err == nil {
		t.Error("got no error for a taken name, want one")
	}
	wantEvents(t, m, "one that was not created")
}

// reporter is a store whose Report returns err.
type reporter struct {
	domain.Store
	err error
}

func (r reporter) Report(context.Context, netip.Addr, domain.Report, user.ID, paste.Client, paste.Quota) error {
	return r.err
}

func TestOperatorIsToldOfReports(t *testing.T) {
	t.Parallel()
	m := modules.New()
	report := func(err error, reason string) error {
		use := moderation.New(reporter{err: err}, m.UserStore, nil, nil, m.Notify, m.Clock).Report
		return use.Do(t.Context(), modules.By(token.Viewer{}), "k2j4x8m1", reason, "The text of a reader.")
	}
	if err := report(nil, "spam"); err != nil {
		t.Fatal(err)
	}
	if len(m.Notices) != 1 || m.Notices[0].Subject != "k2j4x8m1" {
		t.Errorf("got %+v, want the id of the paste", m.Notices)
	}
	wantEvents(t, m, "a report", notice.NewReport)
	for what, err := range map[string]error{
		"no reason": report(nil, "boredom"), "not stored": report(fault.New(fault.NotFound, "No."), "spam"),
	} {
		if err == nil {
			t.Errorf("%s: got no error, want one", what)
		}
		wantEvents(t, m, what)
	}
}

// TestOperatorIsToldOfAFullStore checks that there is one notice at four fifths and one at the first refusal, and that
// both come again once there was room.
func TestOperatorIsToldOfAFullStore(t *testing.T) {
	t.Parallel()
	m := modules.New()
	options := modules.PasteOptions
	options.MaxBytes, options.Notify = 1000, m.Notify
	use := pastes.New(m.PasteStore, m.UserStore, options, func() time.Time { return m.Now })
	code := "x"
	create := func() error {
		_, err := use.CreateOwn.Do(t.Context(), modules.By(token.Viewer{}),
			paste.Draft{Pasties: []paste.PastyDraft{{Code: &code}}})
		return err
	}
	for range 2 {
		use.SizeLimit.SetUsed(799)
		wantEvents(t, m, "below")
		use.SizeLimit.SetUsed(800)
		wantEvents(t, m, "four fifths", notice.StoreNearlyFull)
		use.SizeLimit.SetUsed(999)
		wantEvents(t, m, "above")
		if err := create(); err != nil {
			t.Errorf("got %v, want no error", err)
		}
		wantEvents(t, m, "a paste that fits")
		use.SizeLimit.SetUsed(1000)
		wantEvents(t, m, "at the limit, where nothing was refused yet")
		for range 3 {
			if err := create(); !fault.Is(err, fault.Unavailable) {
				t.Errorf("got %v, want fault.Unavailable", err)
			}
		}
		wantEvents(t, m, "refused", notice.StoreFull)
	}
}
