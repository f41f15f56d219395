package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func (c *Commands) stats() *cobra.Command {
	cmd := &cobra.Command{Use: "stats", Short: "Count users, tokens and pastes", Args: Arguments(), Example: "  gluepot stats --json"}
	asJSON := jsonFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, m Modules, _ []string) error {
		t, err := m.Stats.Sum.Do(ctx)
		if err != nil {
			return err
		}
		view := struct {
			Users         int64 `json:"users"`
			Tokens        int64 `json:"tokens"`
			ActivePastes  int64 `json:"activePastes"`
			ExpiredPastes int64 `json:"expiredUnsweptPastes"`
			WaitingStars  int64 `json:"waitingStars"`
		}{t.Users, t.Tokens, t.ActivePastes, t.ExpiredPastes, t.WaitingStars}
		return c.print(*asJSON, view, `users                    %d
tokens                   %d
active pastes            %d
expired, unswept pastes  %d
stars without a paste    %d
`, t.Users, t.Tokens, t.ActivePastes, t.ExpiredPastes, t.WaitingStars)
	})
	return cmd
}
