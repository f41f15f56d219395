package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/paste"
)

// pasteView is a paste of a list in JSON.
type pasteView struct {
	ID        string     `json:"id"`
	OwnerID   string     `json:"ownerId"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt *time.Time `json:"expiresAt"`
	Active    bool       `json:"active"`
}

func (c *Commands) pasteView(p paste.Paste) pasteView {
	return pasteView{
		ID: string(p.ID), OwnerID: string(p.Owner), CreatedAt: p.CreatedAt.UTC(), ExpiresAt: timeOrNil(p.ExpiresAt.UTC()),
		Active: p.ActiveAt(c.now()),
	}
}

func (c *Commands) paste() *cobra.Command {
	return Group("paste", "Create, show, edit, delete, list and star pastes",
		c.pasteCreate(), c.pasteShow(), c.pasteEdit(), c.pasteDelete(), c.pasteList(),
		c.star("star", "Add a paste to a user's stars", "starred", "Starred %s for %s.\n",
			func(ctx context.Context, m Modules, name, id string) error { return m.Pastes.Star.Do(ctx, name, id) }),
		c.star("unstar", "Take a paste out of a user's stars", "unstarred", "Took the star for %s from %s.\n",
			func(ctx context.Context, m Modules, name, id string) error { return m.Pastes.Unstar.Do(ctx, name, id) }),
	)
}

func (c *Commands) pasteList() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list NAME", Short: "List a user's pastes, newest first", Args: Arguments("NAME"),
		Example: "  gluepot paste list epoxy --json",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		if *asJSON {
			return m.Pastes.List.Do(ctx, args[0], func(p paste.Paste) error { return c.printJSON(c.pasteView(p)) })
		}
		row, flush := c.table("ID", "CREATED", "EXPIRES", "STATE")
		err := m.Pastes.List.Do(ctx, args[0], func(p paste.Paste) error {
			state := "active"
			if !p.ActiveAt(c.now()) {
				state = "expired"
			}
			row(string(p.ID), moment(p.CreatedAt), moment(p.ExpiresAt), state)
			return nil
		})
		if err != nil {
			return err
		}
		return flush()
	})
	return cmd
}

func (c *Commands) pasteDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete ID", Short: "Delete a paste", Args: Arguments("ID"), Example: "  gluepot paste delete k3j2h1g0"}
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		if err := m.Pastes.Delete.Do(ctx, args[0]); err != nil {
			return err
		}
		return c.print(*asJSON, map[string]string{"deleted": args[0]}, "Deleted the paste %s.\n", args[0])
	})
	return cmd
}

// star is one of the two commands about a user and a paste.
func (c *Commands) star(verb, short, key, text string, do func(ctx context.Context, m Modules, name, id string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: verb + " NAME ID", Short: short, Args: Arguments("NAME", "ID"), Example: "  gluepot paste " + verb + " epoxy k3j2h1g0",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, args []string) error {
		if err := do(ctx, m, args[0], args[1]); err != nil {
			return err
		}
		return c.print(*asJSON, map[string]string{key: args[1], "user": args[0]}, text, args[1], args[0])
	})
	return cmd
}
