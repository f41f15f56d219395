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
		{"id", "ID", t.ID}, {"name", "NAME", t.Name}, {"scope", "SCOPE", t.Scope},
		{"createdAt", "CREATED", t.CreatedAt}, {"lastUsedAt", "LAST USED", t.LastUsedAt},
		{"expiresAt", "EXPIRES", t.ExpiresAt}, {"revokedAt", "REVOKED", t.RevokedAt},
	}
}

func (c *Commands) token() *cobra.Command {
	list := withUser(c.newCommand("list USER", "List a user's tokens", "token list epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			userTokens, err := m.Tokens.List.Do(ctx, audit.Operator(), args[0])
			return listOutput(all(userTokens), tokenRecord), err
		}))
	revoke := c.newCommand("revoke ID", "Revoke a token at once", "token revoke k3j2h1g0",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			err := m.Tokens.Revoke.Do(ctx, audit.Operator(), args[0])
			return textOutput(map[string]string{"revoked": args[0]}, "Revoked the token %s.\n", args[0]), err
		})
	return Group("token", "Issue, list and revoke access tokens", c.tokenIssue(), list, revoke)
}

func (c *Commands) tokenIssue() *cobra.Command {
	var (
		input tokens.IssueInput
		scope string
	)
	cmd := withUser(c.newCommand("issue USER", "Issue an access token, and print it once, on the last line",
		"token issue epoxy --name laptop --expires-in 90d",
		func(ctx context.Context, m Modules, args []string) (_ output, err error) {
			if input.Scope, err = token.ParseScope(scope); err != nil {
				return nil, err
			}
			issued, secret, err := m.Tokens.Issue.Do(ctx, audit.Operator(), args[0], input)
			fields := append(tokenRecord(issued), field{"token", "", secret.Reveal()})
			return textOutput(fields, "Issued the token %s; it expires: %s. It is not shown again:\n%s\n",
				issued.ID, moment(issued.ExpiresAt), secret.Reveal()), err
		}))
	cmd.Example += "\n  TOKEN=$(gluepot token issue epoxy | tail -n 1)"
	cmd.Flags().StringVar(&input.Name, "name", "", "name of the token")
	cmd.Flags().StringVar(&scope, "scope", token.Write.String(), "what it may do: read or write")
	cmd.Flags().Func("expires-in", "how long it works: a `TIME` such as 12h or 90d (default forever)",
		setter(&input.ExpiresIn, quantity.Duration))
	return cmd
}

// sessions are commands of user.
func (c *Commands) sessions() []*cobra.Command {
	list := withUser(c.newCommand("sessions USER", "List the browsers in which a user is signed in", "user sessions epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			sessions, err := m.Tokens.Sessions.List(ctx, audit.Operator(), args[0])
			return listOutput(all(sessions), func(t token.Token) record {
				return record{
					{"id", "ID", t.ID}, {"browser", "BROWSER", t.Name}, {"scope", "SCOPE", t.Scope},
					{"createdAt", "SIGNED IN", t.CreatedAt}, {"lastUsedAt", "LAST USED", t.LastUsedAt},
					{"expiresAt", "EXPIRES", t.ExpiresAt}, {"token", "", t.Parent},
				}
			}), err
		}))
	signOut := withUser(c.newCommand("sign-out USER", "End all sessions of a user; access tokens stay valid",
		"user sign-out epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			ended, err := m.Tokens.Sessions.EndAll(ctx, audit.Operator(), args[0])
			return textOutput(map[string]int{"ended": ended}, "Ended %s.\n", english.Plural(ended, "session", "")), err
		}))
	return []*cobra.Command{list, signOut}
}
