package cli

import (
	"context"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/token"
)

// tokenView is a token in JSON. Only a new token has its secret.
type tokenView struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Scope      string     `json:"scope"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt"`
	ExpiresAt  *time.Time `json:"expiresAt"`
	RevokedAt  *time.Time `json:"revokedAt"`
	Token      string     `json:"token,omitempty"`
}

func newTokenView(t token.Token) tokenView {
	return tokenView{
		ID: string(t.ID), Name: t.Name, Scope: t.Scope.String(), CreatedAt: t.CreatedAt.UTC(),
		LastUsedAt: timeOrNil(t.LastUsedAt), ExpiresAt: timeOrNil(t.ExpiresAt.UTC()), RevokedAt: timeOrNil(t.RevokedAt),
	}
}

func (c *Commands) token() *cobra.Command {
	return Group("token", "Issue, list and revoke access tokens", c.tokenIssue(), c.tokenList(), c.tokenRevoke())
}

func (c *Commands) tokenIssue() *cobra.Command {
	var expiresIn lifetime
	cmd := ofUser(&cobra.Command{
		Use: "issue USER", Short: "Give a user a new access token, shown once, on the last line", Args: Arguments("USER"),
		Example: "  gluepot token issue epoxy --name laptop --expires-in 90d\n  TOKEN=$(gluepot token issue epoxy | tail -n 1)",
	})
	name := cmd.Flags().String("name", "", "what to call the token")
	scopeName := cmd.Flags().String("scope", token.Write.String(), "what it may do: read, or write")
	cmd.Flags().Var(&expiresIn, "expires-in", "how long it works, such as 12h or 90d (default forever)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		scope, err := token.ParseScope(*scopeName)
		if err != nil {
			return err
		}
		issued, secret, err := m.Tokens.Issue.Do(ctx, args[0], tokens.IssueInput{
			Name: *name, Scope: scope, ExpiresIn: time.Duration(expiresIn),
		})
		if err != nil {
			return err
		}
		view := newTokenView(issued)
		view.Token = secret.Reveal()
		return c.print(*asJSON, view, "Issued the token %s; it expires: %s. It is not shown again:\n%s\n",
			issued.ID, moment(issued.ExpiresAt), secret.Reveal())
	})
	return cmd
}

func (c *Commands) tokenList() *cobra.Command {
	return ofUser(c.does("list USER", "List a user's tokens", "token list epoxy",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			tokens, err := m.Tokens.List.Do(ctx, args[0])
			if err != nil {
				return err
			}
			titles := []string{"ID", "NAME", "SCOPE", "CREATED", "LAST USED", "EXPIRES", "REVOKED"}
			return printList(c, asJSON, all(tokens), newTokenView, titles, func(t token.Token) []string {
				return []string{
					string(t.ID), t.Name, t.Scope.String(), moment(t.CreatedAt), moment(t.LastUsedAt), moment(t.ExpiresAt), moment(t.RevokedAt),
				}
			})
		}))
}

func (c *Commands) tokenRevoke() *cobra.Command {
	return c.does("revoke ID", "Make a token invalid from now on", "token revoke k3j2h1g0",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			if err := m.Tokens.Revoke.Do(ctx, args[0]); err != nil {
				return err
			}
			return c.print(asJSON, map[string]string{"revoked": args[0]}, "Revoked the token %s.\n", args[0])
		})
}

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
