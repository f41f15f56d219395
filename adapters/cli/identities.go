package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

// identityView is an identity in JSON.
type identityView struct {
	Provider string `json:"provider"`
	Subject  string `json:"subject"`
}

func (c *Commands) userIdentities() *cobra.Command {
	return ofUser(c.does("identities USER", "List the accounts at providers that a user signs in with", "user identities epoxy",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			found, err := m.Accounts.Identities.Do(ctx, args[0])
			if err != nil {
				return err
			}
			view := func(provider string) identityView { return identityView{provider, found[provider]} }
			return printList(c, asJSON, all(slices.Sorted(maps.Keys(found))), view, []string{"PROVIDER", "SUBJECT"},
				func(provider string) []string { return []string{provider, found[provider]} })
		}))
}

func (c *Commands) userLink() *cobra.Command {
	cmd := ofUser(c.does("link USER IDENTITY", "Let a user sign in with an account at a provider", "user link epoxy github:77",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			if err := m.Accounts.Link.Do(ctx, args[0], args[1]); err != nil {
				return err
			}
			return c.print(asJSON, map[string]string{"linked": args[1]}, "Linked %s.\n", args[1])
		}))
	cmd.Long += "\nIDENTITY is github, gitlab or oidc, as it is configured, a colon, and the number or subject of the account there."
	return cmd
}

func (c *Commands) userUnlink() *cobra.Command {
	cmd := ofUser(c.does("unlink USER PROVIDER", "Let a user no longer sign in with the account at a provider", "user unlink epoxy github",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			if err := m.Accounts.Unlink.Do(ctx, args[0], args[1]); err != nil {
				return err
			}
			return c.print(asJSON, map[string]string{"unlinked": args[1]}, "Unlinked %s.\n", args[1])
		}))
	cmd.Long += "\nPROVIDER is github, gitlab or oidc, as it is configured, or one as 'gluepot user identities' lists it."
	return cmd
}
