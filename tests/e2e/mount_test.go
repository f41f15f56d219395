package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
	"github.com/gluepot/gluepot/tests/visit"
)

// mount is the path of the public URL. It is also a path of endpoints, which is the hardest case.
const mount = "/paste"

// crawler follows all links of pages below a path.
type crawler struct {
	*surfer

	seen map[string]bool
}

// TestMount serves below a path, behind a proxy that passes the path on and behind one that cuts it off. No link, form,
// file, cookie or redirect of any page may leave the path.
func TestMount(t *testing.T) {
	t.Parallel()
	for name, cutsPath := range map[string]bool{"passed on": false, "cut off": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var address string // of the node, which starts after the proxy
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != mount && !strings.HasPrefix(r.URL.Path, mount+"/") {
					http.Error(w, "another service", http.StatusTeapot)
					return
				}
				var forward http.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
					r.SetURL(&url.URL{Scheme: "http", Host: address})
					r.SetXForwarded()
				}}
				if cutsPath {
					forward = http.StripPrefix(mount, forward)
				}
				forward.ServeHTTP(w, r)
			}))
			t.Cleanup(proxy.Close)
			var node *program.Process
			crawlMounted(t, proxy.URL, func(settings ...string) {
				cfg := database.SQLite(t)
				program.Fixture(t, cfg)
				for _, args := range []string{"user update mortar --admin", "user update epoxy --public=true"} {
					if code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL},
						strings.Fields(args)...); code != 0 {
						t.Fatalf("%s: got exit code %d, %s, want 0", args, code, stderr)
					}
				}
				node = program.Serve(t, cfg.URL, settings...)
				address = node.Address
			})
			wantRoutes(t, node)
		})
	}
}

func crawlMounted(t *testing.T, origin string, serve func(settings ...string)) {
	t.Helper()
	public := origin + mount
	serve("GLUEPOT_PUBLIC_URL="+public, "GLUEPOT_RECENT=true", "GLUEPOT_REPORTS=true", trustTests)
	c := &crawler{seen: make(map[string]bool), surfer: newSurfer(t, &program.Process{})}
	c.origin = origin
	ask := func(method, path, mediaType, body string) (*http.Response, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, public+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", mediaType)
		request.Header.Set("Authorization", program.MortarToken)
		answer, err := c.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // it has been read
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(text)
	}
	created, text := ask(http.MethodPost, "/paste", "application/json", `{"isPublic": true, "tags": "a,b", "pasties": [`+
		`{"title": "a.md", "language": "Markdown", "code": "[x](#y) https://elsewhere.example\n\n# y"}, `+
		`{"title": "b.csv", "code": "a,b\n1,2"}]}`)
	link := created.Header.Get("Location")
	id, below := strings.CutPrefix(link, public+"/")
	if !below || created.StatusCode != http.StatusOK {
		t.Fatalf("got %d, %s, %s, want a paste below %s", created.StatusCode, link, text, public)
	}
	if _, text := ask(http.MethodPost, "/raw", "text/plain", "x"); !strings.HasPrefix(text, public+"/") {
		t.Errorf("got the link %s, want one below %s", text, public)
	}
	if answer, text := ask(http.MethodPatch, "/paste/"+id, "application/json",
		`{"title": "another"}`); answer.StatusCode != http.StatusOK {
		t.Errorf("got %d %s for an edit, want 200", answer.StatusCode, text)
	}
	if answer, text := ask(http.MethodGet, "/paste/"+id, "", ""); !strings.Contains(text, `"_id":"`+id+`"`) {
		t.Errorf("got %d %s, want the paste as JSON", answer.StatusCode, text)
	}
	if answer, text := ask(http.MethodGet, "/pastes", "", ""); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("got %d %s for a page without Accept, want the page of the user's pastes", answer.StatusCode, text)
	}
	if _, text := ask(http.MethodGet, "/openapi.json", "", ""); !strings.Contains(text, `"url": "`+mount+`"`) {
		t.Errorf("got %.300s, want the server at %s", text, mount)
	}
	c.wantPage(http.StatusNotFound, "There is nothing here", http.MethodGet, mount+"/unknown0", nil)
	c.wantPage(http.StatusSeeOther, mount+"/sign-in?next=%2Fpastes", http.MethodGet, mount+"/pastes", nil)
	c.follow("/", "/docs", "/sign-in", "/sign-up", "/invite/none", "/setup/none", "/reset/none", "/sign-in/none",
		"/sign-in/none/callback")
	c.wantPage(http.StatusSeeOther, mount+"/starred", http.MethodPost, mount+"/sign-in", url.Values{
		"token": {program.MortarToken}, "next": {"/starred"},
	})
	jar := c.Jar.Cookies(&url.URL{Scheme: "http", Host: strings.TrimPrefix(origin, "http://"), Path: "/"})
	if len(jar) > 0 {
		t.Errorf("got cookies for the whole host, %v, want them only for %s", jar, mount)
	}
	clear(c.seen)
	c.follow("/", "/"+id, "/~epoxy", "/recent", "/search?q=x", "/account", "/account/identities", "/admin",
		"/robots.txt", "/"+id+"/embed", "/"+id+"/fork",
		"/"+id+".txt", "/"+id+"/raw", "/"+id+"/raw/none", "/"+id+"/raw/none/none", "/"+id+"/open",
		"/oembed?url="+url.QueryEscape(link))
	c.wantPage(http.StatusSeeOther, mount+"/"+id, http.MethodPost, mount+"/"+id+"/star", url.Values{"do": {"star"}})
	c.wantPage(http.StatusOK, "rendered", http.MethodPost, mount+"/preview", url.Values{"code": {"# x"}})
	c.wantPage(http.StatusSeeOther, mount+"/", http.MethodPost, mount+"/sign-out", nil)
	code, stdout, stderr := program.Run(t, []string{"GLUEPOT_SERVER=" + public, "XDG_CONFIG_HOME=" + t.TempDir()}, "push")
	pasteLink := strings.TrimSpace(stdout)
	if code != 0 || !strings.HasPrefix(pasteLink, public+"/") {
		t.Errorf("push: got exit code %d, %s, %s, want a link below %s", code, stdout, stderr, public)
	}
	code, stdout, stderr = program.Run(t, []string{"GLUEPOT_SERVER=" + public}, "pull", pasteLink)
	if code != 0 || stdout != "text\n" {
		t.Errorf("pull: got exit code %d, %q, %s, want the text", code, stdout, stderr)
	}
}

// wantRoutes checks that the log has a request for every page that a GET can reach. It may be later than the answers.
func wantRoutes(t *testing.T, node *program.Process) {
	t.Helper()
	for _, page := range visit.New(t).Routes() {
		if page.Get != nil {
			program.Eventually(t, "a request for "+page.Path+" in the log", func() bool {
				return slices.ContainsFunc(node.Log(), func(line map[string]any) bool { return line["route"] == page.Path })
			})
		}
	}
}

// linkAttributes are the attributes with addresses.
var linkAttributes = []string{"href", "src", "action", "formaction", "data-base", "data-home", "data-document"}

// variants matches pages that lead to endless others of their kind, or show the same in another way.
var variants = regexp.MustCompile(`[?&](after|before|sort|tag|wrap)=`)

// follow requests paths below the mount, and everything that they link to. Each link must stay below it.
func (c *crawler) follow(paths ...string) {
	c.t.Helper()
	for _, path := range paths {
		c.visit(mount+path, "the test")
	}
}

func (c *crawler) visit(path, from string) {
	c.t.Helper()
	path, _, _ = strings.Cut(path, "#")
	if c.seen[path] || variants.MatchString(path) {
		return
	}
	c.seen[path] = true
	status, text := c.ask(http.MethodGet, path, nil)
	if status == http.StatusTeapot || status >= http.StatusInternalServerError {
		c.t.Errorf("%s, from %s: got %d %.200s, want a page below the mount", path, from, status, text)
	}
	if status >= 300 && status < 400 {
		c.visitLink(text, path)
		return
	}
	if !strings.HasPrefix(text, "<") {
		return // not a page
	}
	tokens := html.NewTokenizer(strings.NewReader(text))
	for tokens.Next() != html.ErrorToken {
		token := tokens.Token()
		if property := attributeOf(token, "property"); property == "og:url" || property == "og:image" {
			c.visitLink(c.resolve(attributeOf(token, "content"), path), path)
		}
		for _, attribute := range token.Attr {
			if !slices.Contains(linkAttributes, attribute.Key) || attribute.Val == "" || strings.HasPrefix(attribute.Val, "#") {
				continue
			}
			link := c.resolve(attribute.Val, path)
			if attributeOf(token, "method") == "post" || strings.HasPrefix(attribute.Key, "data-") {
				c.isOwn(link, path)
			} else {
				c.visitLink(link, path)
			}
		}
	}
}

// attributeOf returns the value of an attribute, or "".
func attributeOf(token html.Token, key string) string {
	for _, attribute := range token.Attr {
		if attribute.Key == key {
			return attribute.Val
		}
	}
	return ""
}

// resolve returns the address of a link on a page, as a browser resolves it.
func (c *crawler) resolve(link, page string) string {
	c.t.Helper()
	base, err := url.Parse(c.origin + page)
	if err != nil {
		c.t.Fatal(err)
	}
	target, err := base.Parse(link)
	if err != nil {
		c.t.Fatal(err)
	}
	return target.String()
}

// isOwn reports whether a link is one of this site, and fails the test if it is not below the mount.
func (c *crawler) isOwn(link, from string) bool {
	c.t.Helper()
	if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "mailto:") {
		return false // of another site
	}
	rest := strings.TrimPrefix(link, c.origin)
	if rest != mount && !strings.HasPrefix(rest, mount+"/") {
		c.t.Errorf("%s: got a link to %s, want it below %s", from, link, mount)
		return false
	}
	return true
}

func (c *crawler) visitLink(link, from string) {
	c.t.Helper()
	if c.isOwn(link, from) {
		c.visit(strings.TrimPrefix(link, c.origin), from)
	}
}
