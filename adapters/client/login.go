package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

func (c *Commands) login() *cobra.Command {
	return &cobra.Command{
		Use: "login URL", Short: "Log in to a server with an access token, and use that server from now on",
		Long: `Ask for an access token, check it, and store it for that server, in a file that only you can read. Other
commands use this server from now on. ` + EnvServer + ` and ` + EnvToken + ` take precedence over it. The URL is that of
the server's API: https://paste.example, or https://paste.example/api/v2 if the API has a base path. If standard
input is not a terminal, the token is read from it.`,
		Example: "  gluepot login https://paste.example",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := parseServer(args[0])
			if err != nil {
				return err
			}
			if s.base.Scheme == "http" && !loopback(s.base.Hostname()) {
				_, _ = fmt.Fprintf(c.Stderr, "Warning: %s is not encrypted. Others on the network can read the token and "+
					"your pastes. Use https if the server supports it.\n", s) // optional
			}
			secret, err := c.ask("Access token for " + s.String() + ": ")
			if err != nil {
				return err
			}
			s.token = strings.TrimSpace(secret)
			if s.token == "" {
				return command.Usage("no token given. To push without one, set %s to the server", EnvServer)
			}
			var self struct{ Username string }
			if _, err := s.do(cmd.Context(), http.MethodGet, "/user/self", &self); isNotFound(err) {
				return fmt.Errorf("%w Check the address: it needs the base path if the server has one", err)
			} else if err != nil {
				return err
			}
			dir, err := folder()
			if err != nil {
				return err
			}
			path, err := s.pathOf("token")
			if err == nil {
				err = errors.Join(save(path, s.token), save(filepath.Join(dir, "server"), s.String()))
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Stdout, "Logged in to %s as %s.\n", s, command.Line(self.Username))
			return err
		},
	}
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	isName := host == "localhost" || strings.HasSuffix(host, ".localhost") // RFC 6761
	return isName || err == nil && address.Unmap().IsLoopback()
}

func (c *Commands) logout() *cobra.Command {
	return &cobra.Command{
		Use: "logout [URL]", Short: "Remove the stored access token of a server",
		Long: "Remove the stored access token of a server, by default the one you last logged in to. The server still\n" +
			"accepts the token until it expires or is revoked there.",
		Example: "  gluepot logout",
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := c.server(strings.Join(args, "")) // at most one argument
			if err != nil {
				return err
			}
			path, err := s.pathOf("token")
			if err == nil {
				err = os.Remove(path)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("no token is stored for %s", s)
			}
			if err == nil {
				_, err = fmt.Fprintf(c.Stdout, "Removed the token for %s.\n", s)
			}
			return err
		},
	}
}

// ask reads one line, without echo on a terminal.
func (c *Commands) ask(question string) (string, error) {
	if file, ok := c.Stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		_, _ = fmt.Fprint(c.Stderr, question)
		line, err := term.ReadPassword(int(file.Fd()))
		_, _ = fmt.Fprintln(c.Stderr)
		return string(line), err
	}
	line, err := bufio.NewReader(c.Stdin).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}
