package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/user"
)

// demoAccounts are the demonstration's users. Their ids mark a database as a demonstration: ident.New makes none with a hyphen. The
// printed token is Epoxy's.
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

// demoTokenLife is how long the printed token is valid. Each start prints a new one.
const demoTokenLife = 24 * time.Hour

// demoStars are which of the pastes an account has starred: two that stay, and one that has expired.
var demoStars = []int{0, 1, 4}

// demonstration stores example data in an empty database, through the ports: use cases choose ids themselves.
type demonstration struct {
	find   user.Finder
	users  user.Creator
	pastes paste.DocumentCreator
	stars  paste.Starrer
	count  stats.Counter
	made   *pastes.UseCases
}

// prepareDemonstration stores the demonstration's data, unless an earlier start has. It fails with fault.Conflict, and stores nothing,
// when the database has other data. It does not sweep the database, which may be a real one.
func prepareDemonstration(ctx context.Context, cfg config, log *zap.Logger) (err error) {
	own := cfg.commanded(true)
	own.ReadURL, own.Logger = "", log // it reads its own writes
	app, stop, err := bootstrap.Open(ctx, own)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(ctx)) }()
	store, err := gormstore.New(own.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Connect(ctx); err != nil {
		return err
	}
	users, documents := gormstore.NewUsers(store), gormstore.NewPastes(store)
	return demonstration{
		find: users, users: users, pastes: documents, stars: documents, count: gormstore.NewStats(store), made: app.Pastes,
	}.prepare(ctx)
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
	if totals.Counts != (stats.Counts{}) {
		return errNoDemonstration
	}
	return nil
}

var errNoDemonstration = fault.New(fault.Conflict,
	"The database holds data of its own, and --demo only serves an empty database or one that it has filled: "+
		"name another with GLUEPOT_DATABASE_URL.")

// store stores what is missing of an account, its pastes and its stars. Expired pastes come back.
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
	for i, wanted := range demoPastes {
		if err := d.storePaste(ctx, wanted, paste.Paste{ID: demoPasteID(created.ID, i), Owner: created.ID, CreatedAt: now}); err != nil {
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

func (d demonstration) storePaste(ctx context.Context, wanted demoPaste, made paste.Paste) error {
	if wanted.life != 0 {
		made.ExpiresAt = made.CreatedAt.Add(wanted.life)
	}
	if wanted.life < 0 {
		made.CreatedAt = made.ExpiresAt.Add(wanted.life)
	}
	stored, _ := d.made.Show.Do(ctx, string(made.ID)) // without edits if it is not there
	if err := unlessThere(d.pastes.CreateDocument(ctx, paste.Document{Paste: made, Content: wanted.content})); err != nil {
		return err
	}
	if wanted.edit == nil || len(stored.Edits) > 0 {
		return nil
	}
	_, err := d.made.Edit.Do(ctx, string(made.ID), *wanted.edit)
	return err
}

func demoPasteID(owner user.ID, i int) paste.ID { return paste.ID(fmt.Sprintf("%s-%d", owner, i+1)) }

func unlessThere(err error) error {
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// announceDemonstration prints the address of a page, if there are pages, and commands to try, with a new token.
func announceDemonstration(ctx context.Context, issue *tokens.Issue, origin string, cfg config, out io.Writer) error {
	base, page := origin+cfg.HTTP.BasePath, ""
	demo := demoAccounts[0].profile.ID
	_, secret, err := issue.Do(ctx, demoAccounts[0].name, tokens.IssueInput{Name: "demonstration", ExpiresIn: demoTokenLife})
	if err != nil {
		return fmt.Errorf("issue a token for the demonstration: %w", err)
	}
	if cfg.Pages {
		page = fmt.Sprintf("\nOpen %s/%s in a browser, and sign in with the token below.\n", origin, demoPasteID(demo, 0))
	}
	_, err = fmt.Fprintf(out, `%[8]s
Gluepot serves demonstration data at %[1]s. Try, in another terminal:

  curl %[1]s/user/epoxy/exists
  curl %[1]s/user/epoxy
  curl -H 'Authorization: %[2]s' %[1]s/user/self
  curl -H 'Authorization: %[2]s' %[1]s/user/self/pastes
  curl '%[1]s/data/language?name=c%%2B%%2B'
  curl '%[1]s/data/languageExt?extension=rs'
  curl %[1]s/data/numPastes
  curl '%[1]s/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=1w'

  curl %[1]s/paste/%[4]s
  curl %[1]s/raw/%[4]s/%[5]s
  curl -H 'Authorization: %[2]s' %[1]s/paste/%[6]s
  curl -H 'Authorization: %[2]s' --data-binary @README.md '%[1]s/raw?title=README.md'
  curl -H 'Authorization: %[2]s' -X PATCH -d '{"title":"Edited by hand"}' %[1]s/paste/%[7]s

The token works for %[3]d hours. "mortar" keeps a private profile; of the pastes, %[6]s is private, and
%[7]s has a history. Ctrl-C stops the server.

`, base, secret.Reveal(), int(demoTokenLife.Hours()), demoPasteID(demo, 0), demoMain, demoPasteID(demo, 3), demoPasteID(demo, 1), page)
	return err
}

// reachable returns an address that a client on this machine can use.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
	}
	return addr.String()
}
