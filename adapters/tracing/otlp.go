package tracing

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client sends spans by OTLP over HTTP, in protobuf. OpenTelemetry's own, otlptracehttp, brings gRPC along, which it does not
// use: a fifth more of the program (decision 0049).
type client struct {
	endpoint *url.URL
	headers  http.Header
	zip      bool
	http     *http.Client
}

var _ otlptrace.Client = (*client)(nil)

const (
	defaultEndpoint = "http://localhost:4318"
	tracesPath      = "/v1/traces"
	defaultTimeout  = 10 * time.Second
	// maxAnswer is how much of a collector's answer is read, so that its connection can be used again.
	maxAnswer = 64 << 10
)

// clientFromEnvironment returns nil when the environment asks for none, and an error for what there is not.
func clientFromEnvironment(getenv func(string) string) (*client, error) {
	of := func(name string) string { // for traces, or for all signals
		if value := getenv("OTEL_EXPORTER_OTLP_TRACES_" + name); value != "" {
			return value
		}
		return getenv("OTEL_EXPORTER_OTLP_" + name)
	}
	switch exporter := strings.TrimSpace(getenv("OTEL_TRACES_EXPORTER")); {
	case exporter == "none", exporter == "" && of("ENDPOINT") == "":
		return nil, nil //nolint:nilnil // none is asked for, and that is right
	case exporter != "" && exporter != "otlp":
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER is %q: it takes otlp or none", exporter)
	}
	if protocol := of("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("the protocol of OTLP is %q: it is http/protobuf, usually at port 4318", protocol)
	}
	c := &client{headers: http.Header{"Content-Type": {"application/x-protobuf"}}}
	var err error
	if c.endpoint, err = endpoint(getenv); err != nil {
		return nil, err
	}
	if err := c.addHeaders(of("HEADERS")); err != nil {
		return nil, err
	}
	switch compression := of("COMPRESSION"); compression {
	case "", "none":
	case "gzip":
		c.zip = true
		c.headers.Set("Content-Encoding", "gzip")
	default:
		return nil, fmt.Errorf("the compression of OTLP is %q: it takes gzip or none", compression)
	}
	timeout := defaultTimeout
	if text := of("TIMEOUT"); text != "" {
		milliseconds, err := strconv.Atoi(text)
		if err != nil || milliseconds <= 0 {
			return nil, errors.New("the timeout of OTLP is not a positive number of milliseconds")
		}
		timeout = time.Duration(milliseconds) * time.Millisecond
	}
	secured, err := secured(of)
	if err != nil {
		return nil, err
	}
	c.http = &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: secured, ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: maxAnswer,
		},
		// The headers hold secrets, which are for nobody whom a collector names.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// secured returns what a collector with https is spoken to with.
func secured(of func(name string) string) (*tls.Config, error) {
	trusted, err := authorities(of("CERTIFICATE"))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	if certificate, key := of("CLIENT_CERTIFICATE"), of("CLIENT_KEY"); certificate != "" || key != "" {
		own, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("the client's certificate and key of OTLP: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

// endpoint returns where traces go: a URL for traces as it stands, one for all signals with the path of traces.
func endpoint(getenv func(string) string) (*url.URL, error) {
	own := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	text := cmp.Or(own, getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), defaultEndpoint)
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" { // it may hold a password: it is not shown
		return nil, errors.New("the endpoint of OTLP is no URL that begins with http:// or https://")
	}
	if own == "" {
		parsed = parsed.JoinPath(tracesPath)
	}
	return parsed, nil
}

// addHeaders adds those of a list NAME=VALUE,NAME=VALUE, whose values are percent-encoded.
func (c *client) addHeaders(list string) error {
	for entry := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		name, value, found := strings.Cut(entry, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !found || name == "" || err != nil { // values are secrets: they are not shown
			return errors.New("the headers of OTLP are not a list NAME=VALUE,NAME=VALUE")
		}
		c.headers.Set(name, value)
	}
	return nil
}

// authorities returns those of a PEM file, or nil, which are the system's, when there is no path.
func authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // the system's
	}
	content, err := os.ReadFile(path) //nolint:gosec // the operator says which
	if err != nil {
		return nil, fmt.Errorf("the certificate of OTLP: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, errors.New("the certificate of OTLP is no PEM file with one")
	}
	return pool, nil
}

// Start implements otlptrace.Client.
func (*client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It tries once: what a collector does not take is lost, and those who ask for
// pastes do not wait for it.
func (c *client) UploadTraces(ctx context.Context, sent []*spans.ResourceSpans) error {
	body, err := proto.Marshal(&spans.TracesData{ResourceSpans: sent}) // the same bytes as an ExportTraceServiceRequest
	if err != nil {
		return err
	}
	if c.zip {
		var zipped bytes.Buffer
		writer := gzip.NewWriter(&zipped)
		_, _ = writer.Write(body) // to memory
		_ = writer.Close()
		body = zipped.Bytes()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = c.headers.Clone()
	answer, err := c.http.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok { // whose URL may hold a secret
		return fmt.Errorf("the collector at %s: %w", c.endpoint.Host, failed.Err)
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector at %s answered %d", c.endpoint.Host, answer.StatusCode)
	}
	return nil
}
