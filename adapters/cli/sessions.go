package cli

import (
	"context"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/token"
)

// sessionView is a session in JSON.
type sessionView struct {
	ID         string     `json:"id"`
	Browser    string     `json:"browser"`
	Scope      string     `json:"scope"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt"`
	ExpiresAt  *time.Time `json:"expiresAt"`
	Token      string     `json:"token,omitempty"`
}

func newSessionView(t token.Token) sessionView {
	return sessionView{
		ID: string(t.ID), Browser: t.Name, Scope: t.Scope.String(), CreatedAt: t.CreatedAt.UTC(), LastUsedAt: timeOrNil(t.LastUsedAt),
		ExpiresAt: timeOrNil(t.ExpiresAt), Token: string(t.Parent),
	}
}

func (c *Commands) userSessions() *cobra.Command {
	return ofUser(c.does("sessions USER", "List the browsers that a user is signed in with", "user sessions epoxy",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			sessions, err := m.Tokens.ListSessions.Do(ctx, args[0])
			if err != nil {
				return err
			}
			titles := []string{"ID", "BROWSER", "SCOPE", "SIGNED IN", "LAST USED", "EXPIRES"}
			return printList(c, asJSON, all(sessions), newSessionView, titles, func(t token.Token) []string {
				return []string{string(t.ID), t.Name, t.Scope.String(), moment(t.CreatedAt), moment(t.LastUsedAt), moment(t.ExpiresAt)}
			})
		}))
}

func (c *Commands) userSignOut() *cobra.Command {
	return ofUser(c.does("sign-out USER", "End all sessions of a user; access tokens stay valid", "user sign-out epoxy",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			ended, err := m.Tokens.EndSessions.Do(ctx, args[0])
			if err != nil {
				return err
			}
			return c.print(asJSON, map[string]int{"ended": ended}, "Ended %s.\n", english.Plural(ended, "session", ""))
		}))
}
