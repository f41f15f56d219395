package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/stats"
)

func (c *Commands) stats() *cobra.Command {
	return c.newCommand("stats", "Count users, tokens, pastes and bytes, the largest users, and the pastes of each day",
		"stats --json",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			t, err := m.Stats.Sum.Do(ctx)
			totals := record{
				{"users", "", t.Users}, {"tokens", "", t.Tokens},
				{"activePastes", "", t.ActivePastes}, {"expiredUnsweptPastes", "", t.ExpiredPastes},
				{"waitingStars", "", t.WaitingStars}, {"contentBytes", "", t.ContentBytes},
				{"historyBytes", "", t.HistoryBytes}, {"databaseBytes", "", t.DatabaseBytes},
				{"openReports", "", t.OpenReports},
			}
			if c.json {
				return recordOutput(append(totals,
					field{"largestUsers", "", records(t.Largest, holderRecord)},
					field{"createdPerDay", "", records(t.Days, dayRecord)})), err
			}
			return func(c *Commands) error {
				for _, part := range []output{
					recordOutput(totals), listOutput(all(t.Largest), holderRecord), listOutput(all(t.Days), dayRecord),
				} {
					if err := part(c); err != nil {
						return err
					}
				}
				return nil
			}, err
		})
}

func holderRecord(h stats.Holder) record {
	return record{{"username", "\nLARGEST USERS", h.Username}, {"pastes", "PASTES", h.Pastes}, {"bytes", "BYTES", h.Bytes}}
}

func dayRecord(d stats.Day) record {
	return record{{"day", "\nDAY (UTC)", d.Begin.Format(time.DateOnly)}, {"pastes", "CREATED", d.Pastes}}
}

func records[T any](items []T, of func(T) record) []record {
	result := []record{}
	for _, item := range items {
		result = append(result, of(item))
	}
	return result
}
