package fuzzhttp

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

// TestOracle gives the oracle right answers and, for each rule, an answer that breaks it.
func TestOracle(t *testing.T) {
	const (
		id     = "0123456789abcdef0123456789abcdef"
		common = "Date: Sat, 21 Nov 2026 12:00:00 GMT\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: " + id + "\r\n" +
			"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\n"
		json  = "Content-Type: application/json\r\n"
		count = "HTTP/1.1 200 OK\r\nCache-Control: no-cache\r\n" + json + common +
			"Content-Length: 15\r\n\r\n{\"numPastes\":5}"
		problem = `{"type":"about:blank","title":"Unauthorized","status":401,` +
			`"detail":"No.","statusMessage":"No.","requestId":"` + id + `"}`
		refusal = "HTTP/1.1 401 Unauthorized\r\nCache-Control: private, no-store\r\nWww-Authenticate: Bearer\r\n" + json +
			common + "\r\n" + problem
		rust = "HTTP/1.1 200 OK\r\nCache-Control: public, max-age=3600\r\nEtag: \"x\"\r\n" + json + common + "\r\n" +
			`{"name":"Rust","mode":"rust","mimes":["text/x-rustsrc"],"ext":["rs"],"color":"#dea584"}`
		absent = "HTTP/1.1 405 Method Not Allowed\r\nCache-Control: no-store\r\nAllow: GET, HEAD, OPTIONS\r\n" + json +
			common + "\r\n"
		busy = "HTTP/1.1 503 Service Unavailable\r\nCache-Control: no-store\r\nRetry-After: 1\r\n" + json + common + "\r\n"
	)
	swap := func(text, old, replacement string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("got %q, want %q in it", text, old)
		}
		return strings.Replace(text, old, replacement, 1)
	}
	as := func(status, title string) string { return swap(swap(problem, "401", status), "Unauthorized", title) }
	for _, c := range []struct{ request, answer, class string }{
		{"GET /data/numPastes", count, ""},
		{"HEAD /data/numPastes", strings.TrimSuffix(count, `{"numPastes":5}`), ""},
		{"GET /user/self", refusal, ""},
		{"GET /data/language?name=Rust", rust, ""},
		{"POST /data/numPastes", absent + as("405", "Method Not Allowed"), ""},
		{"GET /data/numPastes", busy + as("503", "Service Unavailable"), ""},
		{"GET /data/numPastes", swap(count, "200 OK", "500 Internal Server Error"), "500 for 200"},
		{"GET /data%2FnumPastes", count, "200 for 404"},
		{"GET /user/mortar", swap(count, `{"numPastes":5}`, profiles["putty"]), "200 for 404"},
		{"GET /data/numPastes", swap(count, ":5", ":4"), "wrong count"},
		{"GET /user/epoxy/exists", count, "wrong body"},
		{"HEAD /user/epoxy/exists", strings.TrimSuffix(count, `{"numPastes":5}`), "wrong length for HEAD"},
		{"GET /data/numPastes", swap(count, "nosniff", "sniff"), "no nosniff"},
		{"GET /data/numPastes", swap(count, "default-src 'none'", "default-src *"), "wrong Content-Security-Policy"},
		{"GET /data/numPastes", swap(count, "no-referrer", "origin"), "wrong Referrer-Policy"},
		{"GET /data/numPastes", swap(count, "no-cache", "public"), "wrong Cache-Control"},
		{"GET /data/numPastes", swap(count, "application/json", "text/html"), "wrong Content-Type"},
		{"GET /data/numPastes", swap(count, "Date", "X-Date"), "no Date"},
		{"GET /data/numPastes", swap(count, id, "mine"), "an id of the client's own is believed"},
		{"GET /user/self", swap(refusal, "Www-Authenticate: Bearer\r\n", ""), "wrong Www-Authenticate"},
		{"GET /user/self", swap(refusal, "private, no-store", "no-store"), "wrong Cache-Control"},
		{"GET /user/self", swap(refusal, `"status":401`, `"status":404`), "wrong error object"},
		{"GET /user/self", swap(refusal, `"No.",`, `null,`), "no error object"},
		{"GET /user/self", swap(refusal, `"}`, `","more":1}`), "no error object"},
		{"GET /user/self", swap(refusal, `"title":"Unauthorized",`, ``), "no error object"},
		{"GET /data/language?name=Rust", swap(rust, "Rust", "Go"), "another language"},
		{"GET /data/language?name=Rust", swap(rust, `"ext":["rs"]`, `"ext":null`), "no language"},
		{"GET /data/language?name=Rust", swap(rust, `,"color"`, `,"colour"`), "no language"},
		{"GET /data/language?name=Rust", swap(rust, `"x"`, `"y"`), "another ETag"},
		{"POST /data/numPastes", swap(absent, "Allow: GET, HEAD, OPTIONS\r\n", "") + as("405", "Method Not Allowed"),
			"wrong Allow"},
		{"GET /data/numPastes", swap(busy, "Retry-After: 1\r\n", "") + as("503", "Service Unavailable"), "wrong Retry-After"},
	} {
		s := &site{}
		s.log = newLogOracle(s)
		s.etags.same("Rust", `"x"`)
		request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(c.request + " HTTP/1.1\r\nHost: x\r\n\r\n")))
		if err != nil {
			t.Fatal(err)
		}
		a, err := readAnswer(bufio.NewReader(strings.NewReader(c.answer)), request.Method == http.MethodHead)
		if err != nil {
			t.Fatal(err)
		}
		var v verdict
		s.judge(&v, expectation{request: request}, a)
		s.log.close()
		switch {
		case c.class == "" && len(v) > 0:
			t.Errorf("%s: got %v for a right answer, want no complaint", c.request, v)
		case c.class != "" && (len(v) == 0 || !strings.HasPrefix(v[0].class, c.class)):
			t.Errorf("%s: got %v for %q, want %q", c.request, v, c.answer, c.class)
		}
	}
}

// TestLogOracle gives the oracle lines that a log must not have.
func TestLogOracle(t *testing.T) {
	const right = `{"level":"info","msg":"request","request_id":"1","method":"GET","route":"/data/numPastes",` +
		`"status":200,"duration_ms":0.1,"bytes":15,"client":"127.0.0.1"}`
	for _, c := range []struct{ line, class string }{
		{right, ""},
		{`{"msg":"lines of the log were dropped: no reader took them","dropped":1}`, ""},
		{right + right, "a line of the log is not one JSON object"},
		{"panic: " + right, "a line of the log is not one JSON object"},
		{strings.Replace(right, "/data", "/data/"+canary+"-1-2", 1), `the log has "canary"`},
		{strings.Replace(right, `"GET"`, `"EPOXY"`, 1), `the log has "epoxy"`},
		{strings.Replace(right, "127.0.0.1", "192.0.2.1", 1), "wrong client in the log"},
		{strings.Replace(right, "200", "404", 1), "the log says something else"},
		{strings.Replace(right, "/data/numPastes", "", 1), "the log says something else"},
		{strings.Replace(right, `"1"`, `"2"`, 1), "an answer has no line in the log"},
	} {
		l := newLogOracle(&site{})
		l.patience = 0
		l.mu.Lock()
		l.line([]byte(c.line))
		l.mu.Unlock()
		l.expect("1", requestLine{"GET", []string{"/data/numPastes"}, http.StatusOK})
		l.settle()
		l.close()
		if _, ok := l.problems[c.class]; ok != (c.class != "") || c.class == "" && len(l.problems) > 0 {
			t.Errorf("%s: got %v, want %q", c.line, l.problems, c.class)
		}
	}
}
