package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/user"
)

// demoAccounts are the demonstration's. Their ids mark a database as a demonstration: nothing else makes ids of
// this form, since ident.New makes none with a hyphen. Epoxy's is what the printed token opens.
var demoAccounts = []demoAccount{
	{"Epoxy", user.User{
		ID: "demo-epoxy", AvatarURL: "https://example.com/epoxy.png", DefaultLanguage: "Go", PublicProfile: true,
		SupporterMonths: 24, Contributor: true,
	}, map[string]string{"github": "4815162342", "gitlab": "108"}},
	{"putty", user.User{ID: "demo-putty", AvatarURL: "https://example.com/putty.png", DefaultLanguage: "C++", PublicProfile: true}, nil},
	{"mortar", user.User{
		ID: "demo-mortar", AvatarURL: "https://example.com/mortar.png", DefaultLanguage: user.DefaultLanguage,
	}, map[string]string{"github": "23"}}, // private
}

type demoAccount struct {
	name     string
	profile  user.User
	services map[string]string
}

// demoTokenLife is how long the printed token works. Each start prints a new one.
const demoTokenLife = 24 * time.Hour

// Each account has the same pastes. Two of them stay (0), two expire, one has expired; some it has starred.
var (
	demoPasteLives = []time.Duration{0, 0, time.Hour, 24 * time.Hour, -time.Hour}
	demoStars      = []int{0, 1, 4}
)

// demonstration stores data to look at, in a database that holds nothing else. Use cases cannot: they choose ids themselves.
type demonstration struct {
	find   user.Finder
	users  user.Creator
	pastes paste.Creator
	stars  paste.Starrer
	count  stats.Counter
}

// prepareDemonstration stores the demonstration's data in the database that cfg names, unless an earlier start has. It
// fails with fault.Conflict, and stores nothing, when the database holds data and was never a demonstration, or
// when somebody else has one of the demonstration's names.
func prepareDemonstration(ctx context.Context, cfg gormstore.Config) (err error) {
	cfg.ReplicaURLs = nil // it reads what it writes
	store, err := gormstore.New(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Connect(ctx); err != nil {
		return err
	}
	users, pastes := gormstore.NewUsers(store), gormstore.NewPastes(store)
	return demonstration{find: users, users: users, pastes: pastes, stars: pastes, count: gormstore.NewStats(store)}.prepare(ctx)
}

func (d demonstration) prepare(ctx context.Context) error {
	if err := d.check(ctx); err != nil {
		return err
	}
	for _, account := range demoAccounts {
		if err := d.store(ctx, account); err != nil {
			return fmt.Errorf("store the demonstration data: %w", err)
		}
	}
	return nil
}

func (d demonstration) check(ctx context.Context) error {
	marked := false
	for _, account := range demoAccounts {
		found, err := user.Find(ctx, d.find, account.name)
		switch {
		case fault.Is(err, fault.NotFound):
		case err != nil:
			return err
		case found.ID != account.profile.ID:
			return errNoDemonstration
		default:
			marked = true
		}
	}
	if marked {
		return nil
	}
	totals, err := d.count.Totals(ctx)
	if err != nil {
		return err
	}
	if totals != (stats.Totals{}) {
		return errNoDemonstration
	}
	return nil
}

var errNoDemonstration = fault.New(fault.Conflict,
	"The database holds data of its own, and --demo only serves an empty database or one that it has filled: "+
		"name another with GLUEPOT_DATABASE_URL.")

// store stores an account with its pastes and stars, as far as they are not there. Those that have expired meanwhile
// come back.
func (d demonstration) store(ctx context.Context, account demoAccount) error {
	name, err := user.ParseName(account.name)
	if err != nil {
		return err
	}
	created, now := account.profile, time.Now()
	created.Name, created.CreatedAt = name, now
	if err := unlessThere(d.users.Create(ctx, created, account.services)); err != nil {
		return err
	}
	for i, life := range demoPasteLives {
		made := paste.Paste{ID: demoPasteID(created.ID, i), Owner: created.ID, CreatedAt: now}
		if life != 0 {
			made.ExpiresAt = now.Add(life)
		}
		if life < 0 {
			made.CreatedAt = made.ExpiresAt.Add(life)
		}
		if err := unlessThere(d.pastes.Create(ctx, made)); err != nil {
			return err
		}
	}
	for _, i := range demoStars {
		if err := d.stars.Star(ctx, created.ID, demoPasteID(created.ID, i)); err != nil {
			return err
		}
	}
	return nil
}

func demoPasteID(owner user.ID, i int) paste.ID { return paste.ID(fmt.Sprintf("%s-%d", owner, i+1)) }

func unlessThere(err error) error {
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// announceDemonstration prints a line to try for each endpoint of the server at base, with a new token of the
// demonstration's own account.
func announceDemonstration(ctx context.Context, issue *tokens.Issue, base string, out io.Writer) error {
	_, secret, err := issue.Do(ctx, demoAccounts[0].name, "demonstration", demoTokenLife)
	if err != nil {
		return fmt.Errorf("issue a token for the demonstration: %w", err)
	}
	_, err = fmt.Fprintf(out, `
Gluepot serves demonstration data at %[1]s. Try, in another terminal:

  curl %[1]s/user/epoxy/exists
  curl %[1]s/user/epoxy
  curl -H 'Authorization: %[2]s' %[1]s/user/self
  curl -H 'Authorization: %[2]s' %[1]s/user/self/pastes
  curl '%[1]s/data/language?name=c%%2B%%2B'
  curl '%[1]s/data/languageExt?extension=rs'
  curl %[1]s/data/numPastes

The token works for %[3]d hours. "mortar" keeps a private profile. Ctrl-C stops the server.

`, base, secret.Reveal(), int(demoTokenLife.Hours()))
	return err
}

// reachable returns an address that a client on this machine can use.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
	}
	return addr.String()
}
