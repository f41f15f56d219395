package program

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/cli"
	"github.com/gluepot/gluepot/adapters/httpapi"
)

func healthCommand(cfg *config, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "health", Short: "Ask the server on this machine whether it is ready, and exit with 0 if it is",
		Long: `Ask the server on this machine whether it is ready (/readyz), or with --live whether it is alive (/healthz).
Exit with 0 if it is, and with 1 otherwise. For containers without curl. Only the settings of the listener count.`,
		Example: "  gluepot health\n  gluepot health --live --http-addr :80 --timeout 1s",
	}
	addSettings(cmd.Flags(), cfg, listenFlags)
	live := cmd.Flags().Bool("live", false, "ask only whether the process answers, not whether its database does")
	// Longer than the default timeout of a request.
	timeout := cmd.Flags().Duration("timeout", 6*time.Second, "how long to wait for the answer")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// Do not read the database's settings: this process may lack the right to read the files of secrets.
		if err := complete(cmd.LocalNonPersistentFlags(), &cfg.Server); err != nil {
			return err
		}
		path, state := httpapi.PathReady, "ready"
		if *live {
			path, state = httpapi.PathAlive, "alive"
		}
		address, host := cfg.Server.Addr, "localhost"
		socket, isSocket := cfg.Server.Socket()
		if !isSocket {
			var err error
			if address, err = loopback(cfg.Server.Addr); err != nil {
				return err
			}
			host = address
		}
		if err := askHealth(cmd.Context(), cfg.scheme()+"://"+host+path, socket, *timeout); err != nil {
			return fmt.Errorf("the server at %s is not %s: %w", address, state, err)
		}
		_, err := fmt.Fprintf(stdout, "The server at %s is %s.\n", address, state)
		return err
	}
	return cmd
}

// loopback returns the address at which to reach a local server that listens on HOST:PORT.
func loopback(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "" || port == "0" {
		return "", cli.Usage("the server at %q has no fixed port: give the one it listens on with --http-addr", listen)
	}
	if address, err := netip.ParseAddr(host); host == "" || err == nil && address.IsUnspecified() {
		host = "127.0.0.1" // "::" includes it
	}
	return net.JoinHostPort(host, port), nil
}

// askHealth requests a health check, at a Unix socket if one is named. It fails unless the answer is 200.
func askHealth(ctx context.Context, address, socket string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{ // without a proxy
		// The request contains no secrets, and certificates are rarely for 127.0.0.1.
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
		DisableKeepAlives: true,
	}
	if socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
	}
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v", timeout)
	case err != nil:
		return rootCause(err)
	}
	defer response.Body.Close() //nolint:errcheck // what matters has been read
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var problem struct {
		Detail string `json:"detail"`
	}
	start := io.LimitReader(response.Body, 4<<10) // an answer is a few words, unless another program listens there
	if json.NewDecoder(start).Decode(&problem) != nil || problem.Detail == "" {
		return fmt.Errorf("it answers %d", response.StatusCode)
	}
	return fmt.Errorf("it answers %d, %q", response.StatusCode, problem.Detail)
}
