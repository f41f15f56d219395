package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

// listed has the fields of a paste in a list that are used here.
type listed struct {
	ID         string  `json:"_id"`
	Title      string  `json:"title"`
	Owner      string  `json:"owner"`
	CreatedAt  int64   `json:"createdAt"`
	DeletesAt  int64   `json:"deletesAt"`
	Visibility string  `json:"visibility"`
	Stars      int64   `json:"stars"`
	Pasties    parts   `json:"pasties"`
	Matches    matches `json:"matches"`
}

// part is a pasty of a paste in a list.
type part struct {
	ID      string `json:"_id"`
	Title   string `json:"title"`
	Preview string `json:"preview"`
}

// match is a line that matches a search.
type match struct {
	Pasty string `json:"pasty"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
}

// pageSize is how many pastes one request asks for.
const pageSize = 100

type (
	items   []json.RawMessage
	parts   []part
	matches []match
)

// UnmarshalJSON implements json.Unmarshaler. It fails for more elements than the request asked for, as those below do.
func (i *items) UnmarshalJSON(text []byte) (err error) {
	*i, err = decodeArray[json.RawMessage](text, pageSize)
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *parts) UnmarshalJSON(text []byte) (err error) {
	*p, err = decodeArray[part](text, maxPasties)
	return err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *matches) UnmarshalJSON(text []byte) (err error) {
	*m, err = decodeArray[match](text, pageSize)
	return err
}

// query is a list of a server with its filters.
type query struct {
	path    string
	filters url.Values
	limit   int // 0: none
}

// pages calls visit with the pastes of each page of a list.
func (s *server) pages(ctx context.Context, q query, visit func(page items) error) error {
	for remaining := q.limit; ; {
		size := pageSize
		if q.limit > 0 {
			size = min(remaining, pageSize)
		}
		q.filters.Set("limit", strconv.Itoa(size))
		var page struct {
			Items items  `json:"items"`
			Next  string `json:"next"`
		}
		if _, err := s.do(ctx, http.MethodGet, q.path+"?"+q.filters.Encode(), &page); err != nil {
			return err
		}
		if err := visit(page.Items); err != nil {
			return err
		}
		remaining -= len(page.Items)
		if page.Next == "" || q.limit > 0 && remaining <= 0 || len(page.Items) == 0 {
			return nil
		}
		q.filters.Set("cursor", page.Next)
	}
}

func (c *Commands) list() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List your pastes",
		Long: "List your newest pastes on a server, or those that you starred. Without a login, list the pastes that were\n" +
			"pushed from this machine and that 'gluepot drop' can still delete.",
		Example: "  gluepot list\n  gluepot list --limit 100 --sort edited --tag go\n" +
			"  gluepot list --starred --json | jq -r '.[]._id'",
	}
	address, limit, asJSON := serverFlag(cmd), limitFlag(cmd), jsonFlag(cmd)
	filters := make(url.Values)
	sort := cmd.Flags().String("sort", "", "order: created, edited or title (default created)")
	tag := cmd.Flags().String("tag", "", "only pastes with this tag")
	title := cmd.Flags().String("title", "", "only pastes with this in their title")
	starred := cmd.Flags().Bool("starred", false, "the pastes that you starred")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *limit < 0 {
			return command.Usage("--limit is negative")
		}
		if *starred && (*sort != "" || *tag != "" || *title != "") {
			return command.Usage("--starred takes neither --sort, --tag nor --title")
		}
		s, err := c.server(*address)
		if err != nil {
			return err
		}
		if s.token == "" {
			if *starred || *sort != "" || *tag != "" || *title != "" {
				return command.Usage("run 'gluepot login %s' first: only users have a list of pastes", s)
			}
			return c.listKeyed(cmd.Context(), s, *limit, *asJSON)
		}
		for name, value := range map[string]string{"sort": *sort, "tag": *tag, "title": *title} {
			if value != "" {
				filters.Set(name, value)
			}
		}
		path := "/list/own"
		if *starred {
			path = "/list/starred"
		}
		return c.print(cmd.Context(), s, query{path, filters, *limit}, *asJSON)
	}
	return cmd
}

func (c *Commands) find() *cobra.Command {
	cmd := &cobra.Command{
		Use: "find WORDS...", Short: "Search public pastes, and your own",
		Long: "Search public pastes and, with a login, all of your own. Each word must occur, in any case.\n" +
			"\"A phrase\", tag:, language:, user: and mine: narrow the search.",
		Example: "  gluepot find parse config language:go\n  gluepot find mine: todo",
	}
	address, limit, asJSON := serverFlag(cmd), limitFlag(cmd), jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if *limit < 0 {
			return command.Usage("--limit is negative")
		}
		s, err := c.server(*address)
		if err != nil {
			return err
		}
		filters := url.Values{"q": {strings.Join(words, " ")}}
		return c.print(cmd.Context(), s, query{"/list/search", filters, *limit}, *asJSON)
	}
	return cmd
}

func (c *Commands) star() *cobra.Command {
	cmd := &cobra.Command{
		Use: "star ID|URL", Short: "Star a paste, or remove the star",
		Example: "  gluepot star k3j2h1g0\n  gluepot star --remove k3j2h1g0",
	}
	address := serverFlag(cmd)
	remove := cmd.Flags().Bool("remove", false, "remove your star")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, id, err := c.target(*address, args[0])
		if err != nil {
			return err
		}
		if s.token == "" {
			return command.Usage("only users can star pastes: run 'gluepot login %s' first", s)
		}
		method := http.MethodPut
		if *remove {
			method = http.MethodDelete
		}
		var now struct {
			Stars int64 `json:"stars"`
		}
		if _, err = s.do(cmd.Context(), method, "/paste/"+url.PathEscape(id)+"/star", &now); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.Stdout, "Stars: %d\n", now.Stars)
		return err
	}
	return cmd
}

func limitFlag(cmd *cobra.Command) *int {
	return cmd.Flags().Int("limit", 20, "at most this many; 0 is all")
}

func jsonFlag(cmd *cobra.Command) *bool { return cmd.Flags().Bool("json", false, "print a JSON array") }

// print prints the pastes of a list page by page, as a table or as JSON.
func (c *Commands) print(ctx context.Context, s *server, q query, asJSON bool) error {
	if asJSON {
		before := "["
		err := s.pages(ctx, q, func(page items) error {
			for _, raw := range page {
				text := before + "\n" + string(raw)
				if err := command.Write(c.Stdout, command.IsTerminal(c.Stdout), text); err != nil {
					return err
				}
				before = ","
			}
			return nil
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.Stdout, map[bool]string{true: "[]", false: "\n]"}[before == "["])
		return err
	}
	w := c.table()
	return s.pages(ctx, q, func(page items) error {
		for _, raw := range page {
			var paste listed
			if json.Unmarshal(raw, &paste) != nil {
				return s.noPaste()
			}
			writeRow(w, &paste)
			for _, m := range paste.Matches {
				_, _ = fmt.Fprintf(w, "\t\t\t\t  %s\n", command.Line(fmt.Sprintf("%d: %s", m.Line, short(m.Text))))
			}
		}
		return w.Flush()
	})
}

func (c *Commands) writeJSON(all any) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return command.Write(c.Stdout, command.IsTerminal(c.Stdout), string(text)+"\n")
}

// table begins a table. Its Flush returns the errors of writing.
func (c *Commands) table() *tabwriter.Writer {
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ID\tCREATED\tEXPIRES\tVISIBILITY\tTITLE")
	return w
}

func writeRow(w *tabwriter.Writer, p *listed) {
	_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", command.Line(p.ID), moment(p.CreatedAt, "-"),
		moment(p.DeletesAt, "never"), command.Line(p.Visibility), command.Line(short(p.label())))
}

// maxLabel is how many bytes of a title a table shows.
const maxLabel = 100

func short(text string) string {
	if len(text) > maxLabel {
		text = strings.ToValidUTF8(text[:maxLabel], "") + "…"
	}
	return text
}

// listKeyed lists the pastes with a stored delete key.
func (c *Commands) listKeyed(ctx context.Context, s *server, limit int, asJSON bool) error {
	ids, err := s.keyed()
	if err != nil {
		return err
	}
	if limit > 0 {
		ids = ids[:min(limit, len(ids))]
	}
	all := []listed{}
	for _, id := range ids {
		p, err := s.read(ctx, id)
		if isNotFound(err) {
			p.Title = "(encrypted)"
			_, err = s.do(ctx, http.MethodGet, "/encrypted/"+url.PathEscape(id), &p)
		}
		if isNotFound(err) { // it was deleted, or it burns after reading
			continue
		}
		if err != nil {
			return err
		}
		item := listed{
			ID: p.ID, Title: p.Title, CreatedAt: p.CreatedAt, DeletesAt: p.DeletesAt, Visibility: "unlisted",
		}
		for _, file := range p.Pasties {
			preview := file.Code[:min(len(file.Code), 4*maxLabel)]
			item.Pasties = append(item.Pasties, part{file.ID, file.Title, preview})
		}
		all = append(all, item)
	}
	if asJSON {
		return c.writeJSON(all)
	}
	w := c.table()
	for i := range all {
		writeRow(w, &all[i])
	}
	return w.Flush()
}

// keyed returns the ids of the pastes with a stored delete key, newest first.
func (s *server) keyed() ([]string, error) {
	pattern, err := s.pathOf("keys", "*")
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(pattern)
	modTime := func(path string) (at time.Time) {
		if about, err := os.Stat(path); err == nil {
			at = about.ModTime()
		}
		return at
	}
	slices.SortFunc(paths, func(a, b string) int { return modTime(b).Compare(modTime(a)) })
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths, err
}

func moment(seconds int64, otherwise string) string {
	if seconds == 0 {
		return otherwise
	}
	return time.Unix(seconds, 0).Format("2006-01-02 15:04")
}

// label returns the title of the paste or of its first pasty, or the first line of code.
func (l *listed) label() string {
	if len(l.Pasties) == 0 {
		return cmp.Or(l.Title, "(encrypted)")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(l.Pasties[0].Preview), "\n")
	return cmp.Or(l.Title, l.Pasties[0].Title, first)
}
