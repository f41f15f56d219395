package client

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

func (c *Commands) list() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List your newest pastes",
		Long:    "List your newest pastes on a server; without a login those that were pushed from here and can still be deleted.",
		Example: "  gluepot list\n  gluepot list --limit 100",
	}
	address := serverFlag(cmd)
	limit := cmd.Flags().Int("limit", 20, "how many at most; 0 is all")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *limit < 0 {
			return command.Usage("--limit is negative")
		}
		s, err := c.server(*address)
		if err != nil {
			return err
		}
		var ids []string
		if s.token == "" {
			ids, err = s.keyed()
		} else {
			_, err = s.do(cmd.Context(), http.MethodGet, "/user/self/pastes", &ids)
		}
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tCREATED\tEXPIRES\tVISIBILITY\tTITLE") // Flush returns the error
		if *limit > 0 {
			ids = ids[:min(*limit, len(ids))]
		}
		for _, id := range ids {
			found, err := s.read(cmd.Context(), id)
			if isNotFound(err) {
				found.Title = "(encrypted)"
				_, err = s.do(cmd.Context(), http.MethodGet, "/encrypted/"+url.PathEscape(id), &found)
			}
			if isNotFound(err) { // deleted meanwhile, or it burns after reading
				continue
			}
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", command.Line(found.ID), moment(found.CreatedAt, "-"), moment(found.DeletesAt, "never"),
				found.visibility(), command.Line(found.label()))
		}
		return w.Flush()
	}
	return cmd
}

// keyed returns the ids of the pastes with a stored delete key, newest first.
func (s *server) keyed() ([]string, error) {
	pattern, err := s.pathOf("keys", "*")
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(pattern)
	written := func(path string) (at time.Time) {
		if about, err := os.Stat(path); err == nil {
			at = about.ModTime()
		}
		return at
	}
	slices.SortFunc(paths, func(a, b string) int { return written(b).Compare(written(a)) })
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

func (p *paste) visibility() string {
	switch {
	case p.IsPrivate:
		return "private"
	case p.IsPublic:
		return "public"
	}
	return "unlisted"
}

// label returns the title of the paste or of its first pasty, or the first line of code.
func (p *paste) label() string {
	if len(p.Pasties) == 0 {
		return p.Title
	}
	first, _, _ := strings.Cut(strings.TrimSpace(p.Pasties[0].Code), "\n")
	return cmp.Or(p.Title, p.Pasties[0].Title, first)
}
