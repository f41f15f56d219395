package cli

import (
	"context"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/quantity"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/token"
)

func tokenRecord(t token.Token) record {
	return record{
		{"id", "ID", t.ID}, {"name", "NAME", t.Name}, {"scope", "SCOPE", t.Scope}, {"createdAt", "CREATED", t.CreatedAt},
		{"lastUsedAt", "LAST USED", t.LastUsedAt}, {"expiresAt", "EXPIRES", t.ExpiresAt},
		{"revokedAt", "REVOKED", t.RevokedAt},
	}
}

func (c *Commands) token() *cobra.Command {
	list := ofUser(c.does("list USER", "List a user's tokens", "token list epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			found, err := m.Tokens.List.Do(ctx, args[0])
			return listed(all(found), tokenRecord), err
		}))
	revoke := c.does("revoke ID", "Make a token invalid from now on", "token revoke k3j2h1g0",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			err := m.Tokens.Revoke.Do(ctx, audit.Operator(), args[0])
			return said(map[string]string{"revoked": args[0]}, "Revoked the token %s.\n", args[0]), err
		})
	return Group("token", "Issue, list and revoke access tokens", c.tokenIssue(), list, revoke)
}

func (c *Commands) tokenIssue() *cobra.Command {
	var (
		wanted tokens.IssueInput
		scope  string
	)
	cmd := ofUser(c.does("issue USER", "Give a user a new access token, shown once, on the last line",
		"token issue epoxy --name laptop --expires-in 90d",
		func(ctx context.Context, m Modules, args []string) (_ output, err error) {
			if wanted.Scope, err = token.ParseScope(scope); err != nil {
				return nil, err
			}
			issued, secret, err := m.Tokens.Issue.Do(ctx, audit.Operator(), args[0], wanted)
			shown := append(tokenRecord(issued), field{"token", "", secret.Reveal()})
			return said(shown, "Issued the token %s; it expires: %s. It is not shown again:\n%s\n",
				issued.ID, moment(issued.ExpiresAt), secret.Reveal()), err
		}))
	cmd.Example += "\n  TOKEN=$(gluepot token issue epoxy | tail -n 1)"
	cmd.Flags().StringVar(&wanted.Name, "name", "", "what to call the token")
	cmd.Flags().StringVar(&scope, "scope", token.Write.String(), "what it may do: read, or write")
	cmd.Flags().Func("expires-in", "how long it works: a `TIME` such as 12h or 90d (default forever)",
		parsed(&wanted.ExpiresIn, quantity.Duration))
	return cmd
}

// sessions are commands of user.
func (c *Commands) sessions() []*cobra.Command {
	list := ofUser(c.does("sessions USER", "List the browsers that a user is signed in with", "user sessions epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			found, err := m.Tokens.Sessions.List(ctx, args[0])
			return listed(all(found), func(t token.Token) record {
				return record{
					{"id", "ID", t.ID}, {"browser", "BROWSER", t.Name}, {"scope", "SCOPE", t.Scope},
					{"createdAt", "SIGNED IN", t.CreatedAt},
					{"lastUsedAt", "LAST USED", t.LastUsedAt}, {"expiresAt", "EXPIRES", t.ExpiresAt}, {"token", "", t.Parent},
				}
			}), err
		}))
	signOut := ofUser(c.does("sign-out USER", "End all sessions of a user; access tokens stay valid",
		"user sign-out epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			ended, err := m.Tokens.Sessions.EndAll(ctx, audit.Operator(), args[0])
			return said(map[string]int{"ended": ended}, "Ended %s.\n", english.Plural(ended, "session", "")), err
		}))
	return []*cobra.Command{list, signOut}
}
