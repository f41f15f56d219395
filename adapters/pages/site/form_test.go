package site

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestForm(t *testing.T) {
	t.Parallel()
	for body, valid := range map[string]bool{
		"": true, "a=1&b=%C3%BC+x": true, "a=1&a=2&a=3": true, strings.Repeat("a&", 20_000): false,
		"a=%zz": false, "a;b": false,
	} {
		r := &Request{Request: httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
		fields, err := r.fields()
		if (err == nil) != valid || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: got %v, %v, want it valid: %v", body, fields, err, valid)
		}
		if want := "ü x"; fields.Has("b") && fields.Get("b") != want {
			t.Errorf("%q: got %q, want %q", body, fields.Get("b"), want)
		}
		r.Header.Set("Content-Type", "text/plain")
		if _, err := r.fields(); !fault.Is(err, fault.Invalid) {
			t.Errorf("got %v for plain text, want fault.Invalid", err)
		}
	}
}

// TestLongPartHeaders sends a part whose header fills the body: a map of its parameters would take 25 times as much.
func TestLongPartHeaders(t *testing.T) {
	var body strings.Builder
	body.WriteString("--b\r\nContent-Disposition: form-data; name=code")
	for n := 0; body.Len() < 2<<20; n++ {
		fmt.Fprintf(&body, "; a%d*=u''b", n)
	}
	body.WriteString("\r\n\r\nx\r\n--b--\r\n")
	var before, after runtime.MemStats
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body.String()))
	r.Header["Content-Type"] = []string{"multipart/form-data; boundary=b"}
	runtime.ReadMemStats(&before)
	_, err := (&Request{Request: r}).fields()
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; !fault.Is(err, fault.Invalid) || allocated > 32<<20 {
		t.Errorf("got %v with %d MiB allocated, want fault.Invalid and at most 32 MiB", err, allocated>>20)
	}
}
