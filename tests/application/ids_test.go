package application

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/fake"
	"github.com/gluepot/gluepot/tests/modules"
)

// crowd refuses the first ids as a store does that already has them.
type crowd struct {
	refusals int
	ids      []string
}

func (c *crowd) take(id string) error {
	c.ids = append(c.ids, id)
	if len(c.ids) <= c.refusals {
		return fault.Wrap(fault.Conflict, "It exists already.", fmt.Errorf("%w: duplicate key", ident.ErrTaken))
	}
	return nil
}

type crowdedIdentities struct {
	identity.Store
	*crowd
}

func (c crowdedIdentities) Enroll(
	ctx context.Context, from netip.Addr, entry auditlog.Entry, created user.User, credentials identity.Credentials,
	why identity.Admission,
) error {
	if err := c.take(string(created.ID)); err != nil {
		return err
	}
	return c.Store.Enroll(ctx, from, entry, created, credentials, why)
}

func crowdedUsers(m *modules.Modules, c *crowd) *users.UseCases {
	identities := crowdedIdentities{fake.Identities{Store: m.UserStore.Store}, c}
	return users.New(m.UserStore, identities, paste.Lifetimes{}, nil, m.Clock)
}

type crowdedTokens struct {
	token.Store
	*crowd
}

func (c crowdedTokens) Create(ctx context.Context, _ netip.Addr, _ auditlog.Entry, created token.Token) error {
	if err := c.take(string(created.ID)); err != nil {
		return err
	}
	return c.Store.Create(ctx, netip.Addr{}, auditlog.Entry{}, created)
}

type crowdedPastes struct {
	paste.Store
	*crowd
}

func (c crowdedPastes) CreateDocument(ctx context.Context, created paste.Document) error {
	if err := c.take(string(created.ID)); err != nil {
		return err
	}
	return c.Store.CreateDocument(ctx, created)
}

func (c crowdedPastes) CreateAllowed(
	ctx context.Context, _ netip.Addr, allowance paste.Allowance, client paste.Client, created paste.Document,
) (paste.Usage, error) {
	if err := c.take(string(created.ID)); err != nil {
		return paste.Usage{}, err
	}
	return c.Store.CreateAllowed(ctx, netip.Addr{}, allowance, client, created)
}

// TestIDsAreDrawnAgain checks that an id that is taken is drawn again, and that no caller is told of a taken name.
func TestIDsAreDrawnAgain(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	names, withQuota := 0, modules.PasteOptions
	withQuota.AnonymousQuota = paste.Quota{Pastes: 10, Window: time.Hour}
	for what, create := range map[string]func(*crowd) (string, error){
		"user": func(c *crowd) (string, error) {
			names++
			module := crowdedUsers(m, c)
			created, err := module.Create.Do(t.Context(), audit.Operator(), users.CreateInput{Name: fmt.Sprint("user", names)})
			return string(created.ID), err
		},
		"token": func(c *crowd) (string, error) {
			module := tokens.New(crowdedTokens{m.TokenStore, c}, m.UserStore, m.Clock)
			created, _, err := module.Issue.Do(t.Context(), audit.Operator(), "owner", tokens.IssueInput{})
			return string(created.ID), err
		},
		"paste": func(c *crowd) (string, error) {
			module := pastes.New(crowdedPastes{m.PasteStore, c}, m.UserStore, modules.PasteOptions, m.Clock)
			created, err := module.Create.Do(t.Context(), audit.Operator(), "owner", modules.Draft("x"))
			return string(created.ID), err
		},
		"own paste": func(c *crowd) (string, error) {
			module := pastes.New(crowdedPastes{m.PasteStore, c}, m.UserStore, withQuota, m.Clock)
			created, err := module.CreateOwn.Do(t.Context(), modules.By(m.SignIn(t, "owner")), modules.Draft("x"))
			return string(created.ID), err
		},
		"counted paste": func(c *crowd) (string, error) {
			module := pastes.New(crowdedPastes{m.PasteStore, c}, m.UserStore, withQuota, m.Clock)
			created, err := module.CreateOwn.Do(t.Context(),
				audit.By(token.Viewer{}, netip.MustParseAddr("192.0.2.1")), modules.Draft("x"))
			return string(created.ID), err
		},
	} {
		c := &crowd{refusals: 3}
		id, err := create(c)
		if err != nil || len(c.ids) != 4 || id != c.ids[3] || id == c.ids[2] {
			t.Errorf("%s: got id %q after drawing %v, error %v, want the fourth draw", what, id, c.ids, err)
		}
		_, err = create(&crowd{refusals: 1000})
		modules.WantKind(t, what+" without a free id", err, fault.Unavailable)
		if !errors.Is(err, ident.ErrTaken) || strings.Contains(fault.MessageOf(err), "name") {
			t.Errorf("%s without a free id: got %v, want %v without a mention of a name", what, err, ident.ErrTaken)
		}
	}
	c := new(crowd)
	_, err := crowdedUsers(m, c).Create.Do(t.Context(), audit.Operator(), users.CreateInput{Name: "OWNER"})
	modules.WantKind(t, "name taken", err, fault.Conflict)
	if len(c.ids) != 1 || !strings.Contains(fault.MessageOf(err), "username is taken") {
		t.Errorf("name taken: got %v after drawing %v, want a taken name after one draw", err, c.ids)
	}
}
