package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/quantity"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/identity"
)

// identities are commands of user.
func (c *Commands) identities() []*cobra.Command {
	list := withUser(c.newCommand("identities USER", "List the accounts at providers that a user signs in with",
		"user identities epoxy",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			account, err := m.Users.Show.Do(ctx, audit.Operator(), args[0])
			return listOutput(all(slices.Sorted(maps.Keys(account.Identities))), func(provider string) record {
				return record{{"provider", "PROVIDER", provider}, {"subject", "SUBJECT", account.Identities[provider]}}
			}), err
		}))
	link := withUser(c.newCommand("link USER IDENTITY", "Let a user sign in with an account at a provider",
		"user link epoxy github:77",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			err := m.Accounts.Link.Do(ctx, audit.Operator(), args[0], args[1])
			return textOutput(map[string]string{"linked": args[1]}, "Linked %s.\n", args[1]), err
		}))
	link.Long += "\nIDENTITY is github, gitlab or oidc, a colon, and the number or subject of the account there."
	unlink := withUser(c.newCommand("unlink USER PROVIDER",
		"Stop a user from signing in with an account at a provider", "user unlink epoxy github",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			err := m.Accounts.Link.Undo(ctx, audit.Operator(), args[0], args[1])
			return textOutput(map[string]string{"unlinked": args[1]}, "Unlinked %s.\n", args[1]), err
		}))
	unlink.Long += "\nPROVIDER is github, gitlab or oidc, or another one that 'gluepot user identities' lists."
	return []*cobra.Command{list, link, unlink}
}

func invitationRecord(i identity.Invitation) record {
	return record{
		{"id", "ID", i.ID}, {"uses", "USES LEFT", i.Uses}, {"createdAt", "CREATED", i.CreatedAt},
		{"expiresAt", "EXPIRES", i.ExpiresAt}, {"note", "NOTE", i.Note},
	}
}

func (c *Commands) invite() *cobra.Command {
	list := c.newCommand("list", "List all invitations", "invite list",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			invitations, err := m.Accounts.Invite.All(ctx, audit.Operator())
			return listOutput(all(invitations), invitationRecord), err
		})
	revoke := c.newCommand("revoke INVITATION", "Remove an invitation, by its id or code", "invite revoke k3j2h1g0",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			id, err := m.Accounts.Invite.Revoke(ctx, audit.Operator(), args[0])
			return textOutput(map[string]string{"revoked": string(id)}, "Revoked the invitation %s.\n", id), err
		})
	return Group("invite", "Invite people to sign up, and list and revoke invitations", c.inviteCreate(), list, revoke)
}

// link returns the address of a path. Without a public URL that is the path alone, and unless there was an error, link
// names the setting.
func (c *Commands) link(m Modules, path string, err error) string {
	if err == nil && m.PublicURL == "" {
		_, _ = fmt.Fprintln(c.Stderr, "Set GLUEPOT_PUBLIC_URL to get the full link.") // optional: the path is printed anyway
	}
	return m.PublicURL + path
}

func (c *Commands) inviteCreate() *cobra.Command {
	var (
		expiresIn = 7 * 24 * time.Hour
		uses      int
		note      string
	)
	cmd := c.newCommand("create", "Create an invitation, and print its link once, on the last line",
		"invite create --uses 5 --expires-in 2w --note 'for the team'",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			created, code, err := m.Accounts.Invite.Do(ctx, audit.Operator(), uses, expiresIn, note)
			link := c.link(m, "/invite/"+code, err)
			fields := append(invitationRecord(created), field{"code", "", code}, field{"link", "", link})
			return textOutput(fields, "Created the invitation %s; it expires: %s. Its link is not shown again:\n%s\n",
				created.ID, moment(created.ExpiresAt), link), err
		})
	cmd.Flags().IntVar(&uses, "uses", 1, "how many people may sign up with it")
	cmd.Flags().Func("expires-in", "how long it works: a `TIME` such as 12h or 2w (default 7d)",
		setter(&expiresIn, quantity.Duration))
	cmd.Flags().StringVar(&note, "note", "", "a note for those who are invited, also shown in the list")
	return cmd
}
