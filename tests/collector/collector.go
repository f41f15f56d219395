// Package collector receives OpenTelemetry traces in tests.
package collector

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a server that receives spans by OTLP over HTTP, in protobuf, and keeps them.
type Collector struct {
	URL string

	mu        sync.Mutex
	resources []*traces.ResourceSpans
	headers   []http.Header
}

// Start starts a collector on loopback, which stops when the test ends.
func Start(t *testing.T) *Collector {
	t.Helper()
	c := new(Collector)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.receive(r); err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" {
			t.Errorf("got %s %s, error %v, want POST /v1/traces", r.Method, r.URL.Path, err)
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *Collector) receive(r *http.Request) error {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		reader, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = reader
	}
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var data traces.TracesData
	if err := proto.Unmarshal(content, &data); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resources = append(c.resources, data.GetResourceSpans()...)
	c.headers = append(c.headers, r.Header)
	return nil
}

// Headers returns the headers of the requests so far.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Resources returns the spans so far, grouped by sender.
func (c *Collector) Resources() []*traces.ResourceSpans {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.resources)
}

// Spans returns the spans so far.
func (c *Collector) Spans() []*traces.Span {
	var spans []*traces.Span
	for _, resource := range c.Resources() {
		for _, scope := range resource.GetScopeSpans() {
			spans = append(spans, scope.GetSpans()...)
		}
	}
	return spans
}

// Attribute returns the text of an attribute, or "" if it is missing.
func Attribute(attributes []*common.KeyValue, key string) string {
	for _, attribute := range attributes {
		if attribute.GetKey() == key {
			return attribute.GetValue().GetStringValue()
		}
	}
	return ""
}
