package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

type server struct {
	base  *url.URL // without a trailing slash
	token string   // or ""
	// deleteKey is sent instead of the token: the token is not needed then, and an invalid one would fail the request.
	deleteKey string
	stderr    io.Writer     // for progress, or nil
	patience  time.Duration // how long the connection may stall
}

func (s *server) String() string { return s.base.String() }

// parseServer parses the address of a server.
func parseServer(address string) (*server, error) {
	base, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Hostname() == "" ||
		base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, command.Usage(
			"give the server as a URL such as https://paste.example, without a user, query or fragment")
	}
	standard := map[string]string{"http": ":80", "https": ":443"}[base.Scheme]
	// A server must have one name, under which its token is stored.
	base.Host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(base.Host), standard), ":")
	return &server{base: base, patience: patience}, nil
}

// server returns the server of the flag, the environment or the last login, with its token.
func (c *Commands) server(flag string) (*server, error) {
	for _, name := range []string{EnvServer, EnvToken, EnvPassword} {
		if err := command.CheckValue(name, os.Getenv(name)); err != nil {
			return nil, command.Usage("%w", err)
		}
	}
	last, err := lastServer()
	if err != nil {
		return nil, err
	}
	address := cmp.Or(flag, os.Getenv(EnvServer), last)
	if address == "" {
		return nil, command.Usage("no server given: run 'gluepot login URL', or set %s", EnvServer)
	}
	s, err := parseServer(address)
	if err != nil {
		return nil, err
	}
	// The environment's token is sent to the environment's server only.
	environment := os.Getenv(EnvServer)
	if own, err := parseServer(environment); environment == "" || err == nil && own.String() == s.String() {
		s.token = os.Getenv(EnvToken)
	}
	if s.token == "" {
		s.token, err = load(s.pathOf("token"))
	}
	s.stderr = c.Stderr
	return s, err
}

// transport does not follow redirects: a token and a body go only to their own server.
var transport = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
		MaxResponseHeaderBytes: maxProblem,
	},
}

// How much of an answer is read, in bytes. A paste and its history have at most 48 MiB (paste.DefaultLimits); JSON is
// longer.
const (
	maxAnswer  = 64 << 20
	maxProblem = 64 << 10 // of an answer other than 200
	maxMessage = 500      // of the part that an error shows
)

// patience is how long a server may neither take nor send anything.
const patience = time.Minute

var errStalled = errors.New("the connection stalled for a minute")

// moving is a reader that resets a timer whenever something is read.
type moving struct {
	io.Reader
	timer *time.Timer
	wait  time.Duration
}

// Read implements io.Reader.
func (m moving) Read(p []byte) (n int, err error) {
	if n, err = m.Reader.Read(p); n > 0 {
		m.timer.Reset(m.wait)
	}
	return n, err
}

// statusError is an answer other than 200.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// largeBody is the length in bytes from which progress is shown, and the server is asked first whether it accepts the
// body.
const largeBody = 256 << 10

const keyHeader = "Gluepot-Delete-Key"

// do sends a request without a body, and decodes the JSON of the answer.
func (s *server) do(ctx context.Context, method, path string, into any) (http.Header, error) {
	return s.send(ctx, method, path, "", nil, into)
}

// send is like do, with a body, which may be nil.
func (s *server) send(ctx context.Context, method, path, mediaType string, body []byte, into any) (http.Header, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.patience, func() { cancel(errStalled) })
	defer timer.Stop()
	request, err := http.NewRequestWithContext(ctx, method, s.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		request.Header.Set("Content-Type", mediaType)
		request.Body = io.NopCloser(moving{request.Body, timer, s.patience})
	}
	if len(body) >= largeBody {
		request.Header.Set("Expect", "100-continue")
		progress := command.NewProgress(s.stderr, "Uploading", int64(len(body)), true)
		defer progress.Finish() //nolint:errcheck // only drawing can fail
		request.Body = io.NopCloser(io.TeeReader(request.Body, progress))
	}
	if s.deleteKey != "" {
		request.Header.Set(keyHeader, s.deleteKey)
	} else if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := transport.Do(request)
	if err != nil {
		return nil, s.unreachable(cmp.Or(context.Cause(ctx), err))
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	most := int64(maxAnswer)
	if answer.StatusCode != http.StatusOK {
		most = maxProblem
	}
	text, err := io.ReadAll(io.LimitReader(moving{answer.Body, timer, s.patience}, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the connection to %s broke off: %w", s, cmp.Or(context.Cause(ctx), err))
	case answer.StatusCode != http.StatusOK:
		return nil, s.refused(answer, text)
	case int64(len(text)) > most:
		return nil, fmt.Errorf("%s sent more than %d MiB, which no paste has", s, most>>20)
	case json.Unmarshal(text, into) != nil:
		return nil, s.noPaste()
	}
	return answer.Header, nil
}

func (s *server) noPaste() error {
	return fmt.Errorf("%s did not answer with a paste: check the address and its base path", s)
}

// unreachable explains why there is no answer. It leaves out the path, which may be secret.
func (s *server) unreachable(err error) error {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		err = urlErr.Err
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("the certificate of %s is from an unknown authority. If it is yours, set SSL_CERT_FILE to its "+
			"certificate", s)
	}
	return fmt.Errorf("%s does not answer: %s", s, excerpt(err.Error()))
}

// refused returns the error in an answer.
func (s *server) refused(answer *http.Response, text []byte) error {
	var problem struct{ StatusMessage string }
	_ = json.Unmarshal(text, &problem) // other answers have no message
	statusErr := &statusError{
		answer.StatusCode, fmt.Sprintf("%s says: %s", s, excerpt(cmp.Or(problem.StatusMessage, answer.Status))),
	}
	switch location, err := answer.Location(); {
	case err == nil:
		statusErr.text = fmt.Sprintf("%s redirects to %s. If that is the server, run 'gluepot login' with its URL.", s,
			excerpt(location.Redacted()))
	case answer.StatusCode == http.StatusUnauthorized && s.token != "" && s.deleteKey == "":
		statusErr.text = fmt.Sprintf(
			"%s rejected the access token. Run 'gluepot login %[1]s', or set %s to a valid one.", s, EnvToken)
	}
	return statusErr
}

// excerpt returns a text from a server on one line, cut off if it is long.
func excerpt(text string) string {
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return command.Line(text)
}

// isNotFound reports whether an error is an answer 404.
func isNotFound(err error) bool { return isStatus(err, http.StatusNotFound) }

func isStatus(err error, status int) bool {
	statusErr, ok := errors.AsType[*statusError](err)
	return ok && statusErr.status == status
}
