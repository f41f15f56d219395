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
	cmd := ofUser(&cobra.Command{
		Use: "identities USER", Short: "List the accounts at providers that a user signs in with", Args: Arguments("USER"),
		Example: "  gluepot user identities epoxy",
	})
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		found, err := m.Accounts.Identities.Do(ctx, args[0])
		if err != nil {
			return err
		}
		view := func(provider string) identityView { return identityView{provider, found[provider]} }
		return printList(c, *asJSON, all(slices.Sorted(maps.Keys(found))), view, []string{"PROVIDER", "SUBJECT"},
			func(provider string) []string { return []string{provider, found[provider]} })
	})
	return cmd
}

func (c *Commands) userLink() *cobra.Command {
	cmd := ofUser(&cobra.Command{
		Use: "link USER IDENTITY", Short: "Let a user sign in with an account at a provider", Args: Arguments("USER", "IDENTITY"),
		Example: "  gluepot user link epoxy github:77",
	})
	cmd.Long += "\nIDENTITY is github, gitlab or oidc, as it is configured, a colon, and the number or subject of the account there."
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		if err := m.Accounts.Link.Do(ctx, args[0], args[1]); err != nil {
			return err
		}
		return c.print(*asJSON, map[string]string{"linked": args[1]}, "Linked %s.\n", args[1])
	})
	return cmd
}

func (c *Commands) userUnlink() *cobra.Command {
	cmd := ofUser(&cobra.Command{
		Use: "unlink USER PROVIDER", Short: "Let a user no longer sign in with the account at a provider", Args: Arguments("USER", "PROVIDER"),
		Example: "  gluepot user unlink epoxy github",
	})
	cmd.Long += "\nPROVIDER is github, gitlab or oidc, as it is configured, or one as 'gluepot user identities' lists it."
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		if err := m.Accounts.Unlink.Do(ctx, args[0], args[1]); err != nil {
			return err
		}
		return c.print(*asJSON, map[string]string{"unlinked": args[1]}, "Unlinked %s.\n", args[1])
	})
	return cmd
}
