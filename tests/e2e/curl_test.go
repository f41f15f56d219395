package e2e

import (
	"net/http"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// curl runs curl in a folder with a standard input, and returns what it prints.
func curl(t *testing.T, folder, stdin string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl(1) is not installed")
	}
	cmd := exec.CommandContext(t.Context(), "curl", append([]string{"-sS", "--noproxy", "*"}, args...)...)
	cmd.Dir, cmd.Stdin = folder, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("curl %q: got %v and %q, want no error", args, err, out)
	}
	return string(out)
}

// TestCurl sends a file in every way that people try, and checks the link in the answer, the bytes, and the name.
func TestCurl(t *testing.T) {
	t.Parallel()
	const text = "package main\r\n\n\x00é"
	for _, base := range []string{"", "/api/v2"} {
		server := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_HTTP_BASE_PATH="+base)
		p := newPerson(t)
		p.file("a+b é.go", text)
		p.file("other.txt", "another")
		origin := "http://" + server.Address
		raw := origin + base + "/raw"
		for _, c := range []struct {
			name string
			args []string
		}{
			{"", []string{"-T", "a+b é.go", raw}},
			{"a+b é.go", []string{"-T", "a+b é.go", raw + "/"}},
			{"x.go", []string{"-T", "a+b é.go", raw + "/x.go"}},
			{"a+b é.go", []string{"-T", "a+b é.go", origin}},
			{"a+b é.go", []string{"-T", "a+b é.go", origin + "/"}},
			{"x.go", []string{"-T", "a+b é.go", origin + "/x.go"}},
			{"robots.txt", []string{"-T", "a+b é.go", origin + "/robots.txt"}},
			{"", []string{"-T", "-", raw}},
			{"", []string{"-T", "-", raw + "/"}},
			{"x.go", []string{"-T", "-", raw + "/x.go"}},
			{"", []string{"-T", "-", origin + "/"}},
			{"", []string{"--data-binary", "@a+b é.go", raw}},
			{"x.go", []string{"--data-binary", "@-", raw + "?title=x.go"}},
			{"a+b é.go", []string{"-F", "file=@a+b é.go", raw}},
			{"a+b é.go", []string{"-F", "file=@a+b é.go", raw + "/"}},
			{"a+b é.go", []string{"-F", "file=@a+b é.go", "-F", "file=@other.txt", raw}},
			{"x/y.go", []string{"-F", "file=@a+b é.go;filename=x/y.go", raw}},
			{"-", []string{"-F", "file=@-", raw}},
			{"a+b é.go", []string{"-F", "file=@a+b é.go", origin}},
			{"", []string{"-F", "f=<-", raw}},
			{"", []string{"-F", "f:1=<-", origin}},
			{"x.go", []string{"-F", "f=<-", "-F", "title=x.go", origin + "/"}},
		} {
			t.Run(base+strings.Join(c.args, " "), func(t *testing.T) {
				t.Parallel()
				output := curl(t, p.dir, text, c.args...)
				link, complete := strings.CutSuffix(output, "\n")
				if !complete || !strings.HasPrefix(link, origin+"/") || len(path.Base(link)) != 8 {
					t.Fatalf("got %q, want a link", output)
				}
				id := path.Base(link)
				for _, address := range []string{raw + "/" + id, raw + "/" + id + "/", link + ".txt", link + "/raw"} {
					if got := curl(t, p.dir, "", address); got != text {
						t.Errorf("%s: got %q, want %q", address, got, text)
					}
				}
				_, document := server.Get(base+"/paste/"+id, "")
				if title := `"title":"` + c.name + `","code":"package main`; !strings.Contains(document, title) {
					t.Errorf("got %s, want %s", document, title)
				}
				wantsAnother := strings.Contains(strings.Join(c.args, " "), "other.txt")
				if strings.Contains(document, `"code":"another"`) != wantsAnother {
					t.Errorf("got %s, want a pasty for each file", document)
				}
			})
		}
	}
}

// TestUploadsLeavePages checks that at the paths of uploads, browsers still get pages, and clients of the API its
// answers.
func TestUploadsLeavePages(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	form := part(`name="code"`, "x") + "--x--\r\n"
	formType := []string{"Content-Type", "multipart/form-data; boundary=x"}
	for _, page := range [][]string{
		{"Accept", "text/html,*/*;q=0.8"}, {"Accept", "*/*", "Origin", "http://" + server.Address},
	} {
		response, _ := roundTrip(t, server, http.MethodPost, "/", form, append(page, formType...)...)
		if request := response.Request; request.Method != http.MethodGet || len(request.URL.Path) != len("/abcdefgh") {
			t.Errorf("%q: got %s of %s, want a redirect to the page of the new paste", page, response.Status, request.URL)
		}
	}
	status, answer := send(t, server, http.MethodPost, "/", form, append(formType, "Origin", "https://evil.example")...)
	if status != http.StatusForbidden {
		t.Errorf("got %d %s for a form of another site, want 403", status, answer)
	}
	for _, path := range []string{"/paste", "/user/epoxy", "/healthz", "/user/self", "/abcdefgh/edit", "/account/tokens"} {
		if status, answer := send(t, server, http.MethodPut, path, "x"); status != http.StatusMethodNotAllowed {
			t.Errorf("PUT %s: got %d %s, want 405", path, status, answer)
		}
	}
	for _, path := range []string{"/", "/abcdefgh", "/raw", "/raw/a"} {
		response, _ := roundTrip(t, server, http.MethodOptions, path, "")
		if !strings.Contains(response.Header.Get("Allow"), "PUT") {
			t.Errorf("%s: got Allow: %s, want PUT in it", path, response.Header.Get("Allow"))
		}
	}
}

// TestWrongRawLink checks that a browser that follows a wrong link gets a page, and a program gets the error body.
func TestWrongRawLink(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	browser := strings.TrimPrefix(fromBrowser, "Accept: ")
	for _, path := range []string{
		"/raw/unknown0", "/raw/unknown0/unknown0", "/raw/unknown0/unknown0/original", "/raw/a/b/c/d", "/raw/x/",
	} {
		status, page := getAccepting(t, server, path, browser)
		if status != http.StatusNotFound || !strings.Contains(page, "<h1>There is nothing here</h1>") {
			t.Errorf("%s: got %d %s, want a page", path, status, page)
		}
		if status, body := getAccepting(t, server, path, "*/*"); status != http.StatusNotFound || !strings.HasPrefix(body,
			"{") {
			t.Errorf("%s: got %d %s for a program, want the error body", path, status, body)
		}
	}
	if status, body := getAccepting(t, server, "/user/nobody", browser); !strings.HasPrefix(body, "{") {
		t.Errorf("got %d %s, want the error body: only raw texts have links for people", status, body)
	}
	exchange(t, server, http.MethodGet, "/raw/unknown0", fromBrowser) // exchange checks it against the document
}
