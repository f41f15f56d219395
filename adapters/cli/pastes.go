package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func (c *Commands) paste() *cobra.Command {
	return Group("paste", "Create, show, edit, find, remove, delete and star pastes",
		c.pasteCreate(), c.pasteShow(), c.pasteEdit(), c.pasteList(), c.pasteRemove(), c.pasteRestore(), c.pasteDelete(),
		c.star("star", "Add a paste to a user's stars", "starred", "Starred %s for %s.\n",
			func(ctx context.Context, m Modules, name, id string) error { return m.Pastes.Star.Do(ctx, name, id) }),
		c.star("unstar", "Take a paste out of a user's stars", "unstarred", "Took the star for %s from %s.\n",
			func(ctx context.Context, m Modules, name, id string) error { return m.Pastes.Unstar.Do(ctx, name, id) }),
	)
}

// star is one of the two commands about a user and a paste.
func (c *Commands) star(verb, short, key, text string, do func(ctx context.Context, m Modules, name, id string) error) *cobra.Command {
	return ofUser(c.does(verb+" USER ID", short, "paste "+verb+" epoxy k3j2h1g0",
		func(ctx context.Context, m Modules, args []string, asJSON bool) error {
			if err := do(ctx, m, args[0], args[1]); err != nil {
				return err
			}
			return c.print(asJSON, map[string]string{key: args[1], "user": args[0]}, text, args[1], args[0])
		}))
}
