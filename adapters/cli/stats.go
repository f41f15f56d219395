package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/stats"
)

func (c *Commands) stats() *cobra.Command {
	return c.does("stats", "Count users, tokens, pastes and bytes, the largest users, and the pastes of each day", "stats --json",
		func(ctx context.Context, m Modules, _ []string, asJSON bool) error {
			t, err := m.Stats.Sum.Do(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return c.printJSON(newStatsView(&t))
			}
			text := fmt.Sprintf(`users                    %d
tokens                   %d
active pastes            %d
expired, unswept pastes  %d
stars without a paste    %d
bytes of content         %d
bytes of history         %d
bytes of the database    %d
`, t.Users, t.Tokens, t.ActivePastes, t.ExpiredPastes, t.WaitingStars, t.ContentBytes, t.HistoryBytes, t.DatabaseBytes)
			if _, err := io.WriteString(c.stdout, text); err != nil {
				return err
			}
			row, flush := c.table("\nLARGEST USERS", "PASTES", "BYTES")
			for _, held := range t.Largest {
				row(held.Username, strconv.FormatInt(held.Pastes, 10), strconv.FormatInt(held.Bytes, 10))
			}
			if err := flush(); err != nil {
				return err
			}
			row, flush = c.table("\nDAY (UTC)", "CREATED")
			for _, day := range t.Days {
				row(day.Begin.Format(time.DateOnly), strconv.FormatInt(day.Pastes, 10))
			}
			return flush()
		})
}

type statsView struct {
	Users         int64        `json:"users"`
	Tokens        int64        `json:"tokens"`
	ActivePastes  int64        `json:"activePastes"`
	ExpiredPastes int64        `json:"expiredUnsweptPastes"`
	WaitingStars  int64        `json:"waitingStars"`
	ContentBytes  int64        `json:"contentBytes"`
	HistoryBytes  int64        `json:"historyBytes"`
	DatabaseBytes int64        `json:"databaseBytes"`
	Largest       []holderView `json:"largestUsers"`
	Days          []dayView    `json:"createdPerDay"`
}

type holderView struct {
	Username string `json:"username"`
	Pastes   int64  `json:"pastes"`
	Bytes    int64  `json:"bytes"`
}

type dayView struct {
	Day    string `json:"day"`
	Pastes int64  `json:"pastes"`
}

func newStatsView(t *stats.Totals) statsView {
	view := statsView{
		t.Users, t.Tokens, t.ActivePastes, t.ExpiredPastes, t.WaitingStars, t.ContentBytes, t.HistoryBytes, t.DatabaseBytes,
		[]holderView{}, []dayView{},
	}
	for _, held := range t.Largest {
		view.Largest = append(view.Largest, holderView(held))
	}
	for _, day := range t.Days {
		view.Days = append(view.Days, dayView{day.Begin.Format(time.DateOnly), day.Pastes})
	}
	return view
}
