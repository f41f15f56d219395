package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// complaints are the errors and warnings that a browser reports about a page, and the page's requests to other origins.
type complaints struct {
	origin string

	mu   sync.Mutex
	urls map[network.RequestID]string
	list []string
}

// handle records an event of the browser if it is a complaint.
func (c *complaints) handle(event any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add := func(format string, args ...any) {
		complaint := fmt.Sprintf(format, args...)
		if strings.Contains(complaint, "404") && strings.Contains(complaint, "/data/languageExt?") {
			return // while a name is typed, its extension may belong to no language
		}
		c.list = append(c.list, complaint)
	}
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning ||
			e.Type == runtime.ConsoleAPICalledTypeAssert {
			add("console: %s", formatArguments(e.Args))
		}
	case *runtime.EventExceptionThrown:
		description := e.ExceptionDetails.Text
		if exception := e.ExceptionDetails.Exception; exception != nil {
			description += " " + exception.Description
		}
		add("exception: %s", description)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			add("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if d := e.Issue.Details; d != nil && d.ContentSecurityPolicyIssueDetails != nil {
			v := d.ContentSecurityPolicyIssueDetails
			add("policy: %s forbids %s %s", v.ViolatedDirective, v.ContentSecurityPolicyViolationType, v.BlockedURL)
		}
	case *network.EventRequestWillBeSent:
		if c.urls == nil {
			c.urls = map[network.RequestID]string{}
		}
		url := e.Request.URL
		c.urls[e.RequestID] = url
		if !strings.HasPrefix(url, c.origin+"/") && !strings.HasPrefix(url, "data:") &&
			!strings.HasPrefix(url, "blob:"+c.origin+"/") {
			add("cross-origin: %.200s", url)
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= http.StatusBadRequest {
			add("status: %d %s", e.Response.Status, e.Response.URL)
		}
	case *network.EventLoadingFailed:
		if !e.Canceled {
			add("failed: %s %.200s", e.ErrorText, c.urls[e.RequestID])
		}
	}
}

// formatArguments returns the arguments of a call of the console as one text.
func formatArguments(arguments []*runtime.RemoteObject) string {
	var texts []string
	for _, a := range arguments {
		texts = append(texts, strings.TrimSpace(string(a.Value)+" "+a.Description))
	}
	return strings.Join(texts, " ")
}

// expect removes the complaints so far that contain a text, and reports whether there were any. Tests of failures call
// it.
func (c *complaints) expect(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.list)
	c.list = slices.DeleteFunc(c.list, func(complaint string) bool { return strings.Contains(complaint, text) })
	return len(c.list) < before
}

// unexpected returns the complaints that expect did not remove.
func (c *complaints) unexpected() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

// TestComplaints opens pages with each kind of fault, and checks the complaint about it.
func TestComplaints(t *testing.T) {
	t.Parallel()
	otherServer := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(otherServer.Close)
	pages := map[string]string{
		"/fine":      `<script>fetch("data:text/plain,x").then(() => document.title = "done")</script>`,
		"/console":   `<script>console.error("oh", 42); document.title = "done"</script>`,
		"/exception": `<script>setTimeout(() => document.title = "done"); nobody.defined.this()</script>`,
		"/rejection": `<script>setTimeout(() => document.title = "done"); Promise.reject(new Error("a canary"))</script>`,
		"/policy":    `<script src="/title.js"></script><p style="color: red">`,
		"/status":    `<script>fetch("/nothing").then(() => document.title = "done")</script>`,
		"/failed":    `<script>fetch("/hangup").catch(() => document.title = "done")</script>`,
		"/cross-origin": `<script>fetch("` + otherServer.URL +
			`/", {mode: "no-cors"}).then(() => document.title = "done")</script>`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		switch {
		case r.URL.Path == "/title.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(`document.title = "done"`))
			return
		case r.URL.Path == "/hangup":
			panic(http.ErrAbortHandler)
		case !ok:
			http.NotFound(w, r)
			return
		case r.URL.Path == "/policy":
			w.Header().Set("Content-Security-Policy", "default-src 'self'")
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><body>` + page))
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{
		"/fine":         "",
		"/console":      `console: "oh" 42`,
		"/exception":    "exception: Uncaught ReferenceError: nobody is not defined",
		"/rejection":    "exception: Uncaught (in promise) Error: a canary",
		"/policy":       "policy: style-src-attr forbids",
		"/status":       "status: 404 " + server.URL + "/nothing",
		"/failed":       "failed: net::ERR_EMPTY_RESPONSE " + server.URL + "/hangup",
		"/cross-origin": "cross-origin: " + otherServer.URL + "/",
	} {
		t.Run(strings.TrimPrefix(path, "/"), func(t *testing.T) {
			t.Parallel()
			tab := newTab(t, server.URL)
			tab.show(path)
			tab.do(chromedp.WaitReady(chromedp.CSS("title")))
			got := tab.unexpectedComplaints()
			if want == "" && len(got) > 0 {
				t.Errorf("got the complaints %q, want none", got)
			}
			if want != "" && !tab.expect(want) {
				t.Errorf("got the complaints %q, want one with %q", got, want)
			}
		})
	}
}
