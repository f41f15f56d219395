package program

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/httpapi/server"
	"github.com/gluepot/gluepot/adapters/pastemyst"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
)

// The demonstration is an export of PasteMyst's, one document on each line, in which NOW, IN_AN_HOUR and IN_A_DAY stand
// for times.
//
//go:embed demo/users.json
var demoUsers string

//go:embed demo/pastes.json
var demoPastes string

// demoUser owns the pastes and the printed token. The id marks a database as a demonstration: ident.New makes none with
// a hyphen.
const demoUser = "id:demo-epoxy"

// demoModule stores the demonstration before anything else uses the database, which may turn out to be a real one.
var demoModule = fx.Module("demo", fx.Invoke(func(lifecycle fx.Lifecycle, cfg config, log *zap.Logger) {
	lifecycle.Append(fx.StartHook(func(ctx context.Context) error { return prepareDemonstration(ctx, cfg, log) }))
}))

// announcementModule prints what to try, once the server listens.
func announcementModule(stdout io.Writer) fx.Option {
	return fx.Module("announcement", fx.Invoke(
		func(lifecycle fx.Lifecycle, cfg config, tokens *tokens.UseCases, serving *server.Server) {
			lifecycle.Append(fx.StartHook(func(ctx context.Context) error {
				return announceDemonstration(ctx, tokens.Issue, serving.Addr(), cfg, stdout)
			}))
		}))
}

// prepareDemonstration imports the demonstration into an empty database, or into one that has it. It then renews what
// has expired, and undoes edits. It fails with fault.Conflict, and stores nothing, when the database has other data. It
// does not sweep the database, which may be a real one.
func prepareDemonstration(ctx context.Context, cfg config, log *zap.Logger) (err error) {
	own := cfg.commandConfig(true)
	own.Logger = log
	app, stop, err := bootstrap.Open(ctx, own)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(ctx)) }()
	_, err = app.Users.Show.Do(ctx, audit.Operator(), demoUser)
	if fault.Is(err, fault.NotFound) {
		err = wantEmpty(ctx, app)
	}
	if err != nil {
		return err
	}
	skip := func(int, []byte, error) error { return nil } // a visitor may have taken a name since
	users := func(context.Context) imports.Records[imports.User] {
		return pastemyst.Users(strings.NewReader(demoUsers))
	}
	if _, err := app.Imports.Users.Do(ctx, audit.Operator(), users, skip); err != nil {
		return fmt.Errorf("store the demonstration's users: %w", err)
	}
	now := time.Now()
	seconds := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	times := strings.NewReplacer(
		"NOW", seconds(now), "IN_AN_HOUR", seconds(now.Add(time.Hour)), "IN_A_DAY", seconds(now.Add(24*time.Hour)))
	pastes := func(context.Context) imports.Records[paste.Import] {
		return pastemyst.Pastes(strings.NewReader(times.Replace(demoPastes)))
	}
	if _, err := app.Imports.Pastes.Do(ctx, audit.Operator(), pastes, paste.RefuseOrphans, skip); err != nil {
		return fmt.Errorf("store the demonstration's pastes: %w", err)
	}
	return nil
}

// wantEmpty fails with fault.Conflict if the database has any data.
func wantEmpty(ctx context.Context, app *bootstrap.Application) error {
	totals, err := app.Stats.Sum.Do(ctx)
	if err != nil || totals.Counts == (stats.Counts{}) {
		return err
	}
	return fault.New(fault.Conflict,
		"--demo serves only an empty database or one that it has filled, and this one holds other data. Name another with "+
			"GLUEPOT_DATABASE_URL.")
}

// announceDemonstration prints the address of a page, if there are pages, and commands to try, with a new token.
func announceDemonstration(ctx context.Context, issue *tokens.Issue, listens net.Addr, cfg config,
	out io.Writer) error {
	address, _ := loopback(listens.String()) // it has a port
	origin := cfg.scheme() + "://" + address
	_, secret, err := issue.Do(ctx, audit.Operator(), demoUser,
		tokens.IssueInput{Name: "demonstration", ExpiresIn: 24 * time.Hour})
	if err != nil {
		return fmt.Errorf("issue a token for the demonstration: %w", err)
	}
	page, operate := "This token works for a day:", ""
	if cfg.Pages {
		page = fmt.Sprintf("Open %s/demo-epoxy-1 in a browser, and sign in with this token, which works for a day:", origin)
	}
	if database := gormstore.URL(cfg.Database.URL); !database.IsPostgres() { // whose password is not printed
		operate = fmt.Sprintf(`
As its operator:

  %[1]s user list --database-url %[2]s
  %[1]s user create mia --admin --database-url %[2]s
`, os.Args[0], database)
	}
	_, err = fmt.Fprintf(out, `
Gluepot serves demonstration data at %[1]s.
%[2]s

  %[3]s

Try, in another terminal, in this folder:

  export GLUEPOT_SERVER=%[1]s GLUEPOT_TOKEN=%[3]s
  curl %[1]s/paste/demo-epoxy-1
  curl %[1]s/raw/demo-epoxy-1/demomain
  curl -H "Authorization: $GLUEPOT_TOKEN" --data-binary @README.md '%[1]s/raw?title=README.md'
  %[4]s push README.md
  %[4]s list

  curl -H "Authorization: $GLUEPOT_TOKEN" %[1]s/paste/demo-epoxy-4
  curl -H "Authorization: $GLUEPOT_TOKEN" -X PATCH -d '{"title":"Edited by hand"}' %[1]s/paste/demo-epoxy-2
  curl -H "Authorization: $GLUEPOT_TOKEN" %[1]s/user/self
  curl -H "Authorization: $GLUEPOT_TOKEN" %[1]s/user/self/pastes
  curl %[1]s/user/epoxy
  curl '%[1]s/data/language?name=c%%2B%%2B'
  curl '%[1]s/data/languageExt?extension=rs'
  curl %[1]s/data/numPastes
  curl '%[1]s/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=1w'
%[5]s
"mortar" keeps a private profile; of the pastes, demo-epoxy-4 is private, and demo-epoxy-2 has a history.
Ctrl-C stops the server.

`, origin+cfg.HTTP.BasePath, page, secret.Reveal(), os.Args[0], operate)
	return err
}
