package client

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"
)

func (c *Commands) drop() *cobra.Command {
	cmd := &cobra.Command{
		Use: "drop ID|URL", Short: "Delete a paste that is yours or was pushed from this machine",
		Example: "  gluepot drop k3j2h1g0",
	}
	address := serverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, id, err := c.target(*address, args[0])
		if err != nil {
			return err
		}
		path, err := s.pathOf("keys", id)
		if s.deleteKey, err = load(path, err); err != nil {
			return err
		}
		if s.deleteKey == "" && s.token == "" {
			return fmt.Errorf("there is no delete key for that paste on this machine, and you are not logged in to %s", s)
		}
		_, err = s.do(cmd.Context(), http.MethodDelete, "/paste/"+url.PathEscape(id), new(struct{}))
		if s.deleteKey != "" && (err == nil || isNotFound(err)) {
			if removeErr := os.Remove(path); !errors.Is(removeErr, fs.ErrNotExist) {
				err = errors.Join(err, removeErr)
			}
		}
		return err
	}
	return cmd
}
