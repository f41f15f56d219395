package bootstrap

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// The demonstration's users. Epoxy is the one that the printed token signs in.
var demoUsers = []users.New{
	{
		Name: "Epoxy", AvatarURL: "https://example.com/epoxy.png", DefaultLanguage: "Go", PublicProfile: true,
		SupporterMonths: 24, Contributor: true, Services: map[string]string{"github": "4815162342", "gitlab": "108"},
	},
	{Name: "putty", AvatarURL: "https://example.com/putty.png", DefaultLanguage: "C++", PublicProfile: true},
	{Name: "mortar", AvatarURL: "https://example.com/mortar.png", Services: map[string]string{"github": "23"}}, // private
}

// demoTokenLife is how long the printed token works. Each start prints a new one.
const demoTokenLife = 24 * time.Hour

// seedDemo stores the demonstration data unless it is there, and prints a line to try for each endpoint.
func seedDemo(ctx context.Context, u UseCases, pastes paste.Creator, base string, out io.Writer) error {
	for _, wanted := range demoUsers {
		created, err := u.CreateUser.Do(ctx, wanted)
		if fault.KindOf(err) == fault.Conflict && err != nil {
			continue // stored by an earlier start
		}
		if err != nil {
			return err
		}
		if err := seedDemoPastes(ctx, u, pastes, created); err != nil {
			return err
		}
	}
	_, secret, err := u.IssueToken.Do(ctx, demoUsers[0].Name, "demonstration", demoTokenLife)
	if err != nil {
		return err
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

// seedDemoPastes gives a user live pastes, two of which expire, one that has expired, and stars.
func seedDemoPastes(ctx context.Context, u UseCases, pastes paste.Creator, owner user.User) error {
	var ids []string
	for _, life := range []time.Duration{0, 0, time.Hour, 24 * time.Hour} {
		created, err := u.CreatePaste.Do(ctx, owner.Name.String(), life)
		if err != nil {
			return err
		}
		ids = append(ids, string(created.ID))
	}
	now := time.Now()
	expired := paste.Paste{ID: paste.ID(ident.New()), Owner: owner.ID, CreatedAt: now.Add(-2 * time.Hour), ExpiresAt: now.Add(-time.Hour)}
	if err := pastes.Create(ctx, expired); err != nil {
		return err
	}
	for _, id := range append(ids[:2], string(expired.ID)) {
		if err := u.StarPaste.Do(ctx, owner.Name.String(), id); err != nil {
			return err
		}
	}
	return nil
}

// reachable returns an address that a client on this machine can use.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
	}
	return addr.String()
}
