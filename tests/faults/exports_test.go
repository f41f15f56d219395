package faults

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// exporter is a signed-in user.
type exporter struct{ cookie, csrf string }

// newExporters returns signed-in users with this many pastes of 32 KiB each.
func newExporters(t *testing.T, app *bootstrap.Application, node *program.Process, count, pastes int) []exporter {
	t.Helper()
	ctx := t.Context()
	var exporters []exporter
	for i := range count {
		created, err := app.Users.Create.Do(ctx, audit.Operator(), users.CreateInput{Name: fmt.Sprint("exporter", i)})
		if err != nil {
			t.Fatal(err)
		}
		_, access, err := app.Tokens.Issue.Do(ctx, audit.Operator(), created.Name.String(), tokens.IssueInput{})
		if err != nil {
			t.Fatal(err)
		}
		viewer, err := app.Tokens.SignIn.Do(ctx, access.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		for n := range pastes {
			code := strings.Repeat(fmt.Sprintf("func f%d() { return g(%d) } // a line of code\n", n, i), 700)
			draft := paste.Draft{Pasties: []paste.PastyDraft{{Code: &code}}}
			if _, err := app.Pastes.CreateOwn.Do(ctx, audit.By(viewer, netip.Addr{}), draft); err != nil {
				t.Fatal(err)
			}
		}
		session, err := app.Tokens.Sessions.Start(ctx, audit.By(token.Viewer{}, netip.Addr{}), created.ID, viewer.Token,
			"a browser", "")
		if err != nil {
			t.Fatal(err)
		}
		e := exporter{cookie: "gluepot-session=" + session.Reveal()}
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+node.Address+"/account", nil)
		request.Header.Set("Cookie", e.cookie)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		match := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindSubmatch(page)
		if match == nil {
			t.Fatalf("got %s %s, want a CSRF token", answer.Status, page)
		}
		e.csrf = string(match[1])
		exporters = append(exporters, e)
	}
	return exporters
}

// request returns the request of an export.
func (e exporter) request() string {
	form := url.Values{"csrf": {e.csrf}}.Encode()
	return fmt.Sprintf(
		"POST /account/export HTTP/1.1\r\nHost: app.test\r\nOrigin: http://app.test\r\nCookie: %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", e.cookie,
		len(form), form)
}

// export reads an export at a rate in bytes a second, or as fast as it can if rate is 0.
func (e exporter) export(t *testing.T, node *program.Process, rate int) (files int, err error) {
	t.Helper()
	conn := dial(t, node)
	if _, err := io.WriteString(conn, e.request()); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	var archive bytes.Buffer
	for err == nil && rate > 0 {
		_, err = io.CopyN(&archive, answer.Body, int64(rate/10))
		time.Sleep(time.Second / 10)
	}
	if rate == 0 {
		_, err = archive.ReadFrom(answer.Body)
	}
	if err != nil && err != io.EOF { //nolint:errorlint // CopyN does not wrap it
		return 0, err
	}
	reader, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", answer.Status, err)
	}
	return len(reader.File), nil
}

// TestExports exports the accounts of 40 users at once. Lookups must be as quick as beside one export. Then the 40
// users read slowly, which must leave memory for the long answers of others.
func TestExports(t *testing.T) {
	const count, pastes = 40, 20
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	config := bootstrap.DefaultConfig()
	config.Database = cfg
	app, stop, err := bootstrap.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	node := program.Serve(t, cfg.URL)
	exporters := newExporters(t, app, node, count, pastes)
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	long := createRaw(t, node, strings.Repeat("x", 2<<20))
	background := startLookups(t, node)
	export := func(exporters []exporter, rate int) {
		t.Helper()
		var callers sync.WaitGroup
		for _, e := range exporters {
			callers.Go(func() {
				if files, err := e.export(t, node, rate); err != nil || files != 2+pastes {
					t.Errorf("got %d files, error %v, want %d", files, err, 2+pastes)
				}
			})
		}
		callers.Wait()
	}
	time.Sleep(time.Second)
	alone := background.cut()
	for range 5 {
		export(exporters[:1], 0)
	}
	besideOne := background.cut()
	start := time.Now()
	export(exporters, 0)
	elapsed := time.Since(start).Round(time.Millisecond)
	besideAll := background.stop()
	record(t, "lookups alone", fmt.Sprint(alone, "; p95 ", alone.percentile(0.95), ", ", alone.wait()), "all right")
	record(t, "lookups beside one export", fmt.Sprint(besideOne, "; p95 ", besideOne.percentile(0.95), ", ",
		besideOne.wait()), "all right")
	record(t, fmt.Sprint("lookups beside ", count, " exports"),
		fmt.Sprint(besideAll, "; p95 ", besideAll.percentile(0.95), ", ", besideAll.wait()), "all right, p99 within 3 times")
	record(t, fmt.Sprint(count, " exports of ", pastes, " pastes"), elapsed, "")
	besideAll.wantAllRight(t)
	wantNotSlowed(t, besideAll, besideOne)

	var slow sync.WaitGroup
	slow.Go(func() { export(exporters, 32<<10) })
	readers := load{clients: 2, to: at(node.Address),
		questions: []question{{"/paste/" + long, "", func(status int, body string) bool {
			return status == http.StatusOK && len(body) > 2<<20
		}}}}.start(t)
	slow.Wait()
	beside := readers.stop()
	record(t, fmt.Sprint("answers of 2 MiB beside ", count, " slowly read exports"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	beside.wantAllRight(t)
	wantPeakBelow(t, node, 256<<20)
}
