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

// exporter is a user who is signed in.
type exporter struct{ cookie, csrf string }

// newExporters returns users with that many pastes of 32 KiB each, who are signed in at a node.
func newExporters(t *testing.T, gluepot *bootstrap.Application, node *program.Process, count, pastes int) []exporter {
	t.Helper()
	ctx := t.Context()
	var all []exporter
	for i := range count {
		created, err := gluepot.Users.Create.Do(ctx, audit.Operator(), users.CreateInput{Name: fmt.Sprint("exporter", i)})
		if err != nil {
			t.Fatal(err)
		}
		_, access, err := gluepot.Tokens.Issue.Do(ctx, audit.Operator(), created.Name.String(), tokens.IssueInput{})
		if err != nil {
			t.Fatal(err)
		}
		viewer, err := gluepot.Tokens.SignIn.Do(ctx, access.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		for n := range pastes {
			code := strings.Repeat(fmt.Sprintf("func f%d() { return g(%d) } // a line of code\n", n, i), 700)
			draft := paste.Draft{Pasties: []paste.PastyDraft{{Code: &code}}}
			if _, err := gluepot.Pastes.CreateOwn.Do(ctx, audit.By(viewer, netip.Addr{}), draft); err != nil {
				t.Fatal(err)
			}
		}
		session, err := gluepot.Tokens.Sessions.Start(ctx, audit.By(token.Viewer{}, netip.Addr{}), created.ID, viewer.Token,
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
			t.Fatalf("got %s %s, want the value for forms", answer.Status, page)
		}
		e.csrf = string(match[1])
		all = append(all, e)
	}
	return all
}

// request is that of an export.
func (e exporter) request() string {
	form := url.Values{"csrf": {e.csrf}}.Encode()
	return fmt.Sprintf(
		"POST /account/export HTTP/1.1\r\nHost: gluepot.test\r\nOrigin: http://gluepot.test\r\nCookie: %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", e.cookie,
		len(form), form)
}

// export reads an export at a rate in bytes a second, or as fast as it can.
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
	var packed bytes.Buffer
	for err == nil && rate > 0 {
		_, err = io.CopyN(&packed, answer.Body, int64(rate/10))
		time.Sleep(time.Second / 10)
	}
	if rate == 0 {
		_, err = packed.ReadFrom(answer.Body)
	}
	if err != nil && err != io.EOF { //nolint:errorlint // CopyN returns it as it is
		return 0, err
	}
	read, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", answer.Status, err)
	}
	return len(read.File), nil
}

// TestExports exports the accounts of 40 users at once. Others are served as beside one export. Then the 40 read
// slowly, which leaves memory for the long answers of others.
func TestExports(t *testing.T) {
	const exporters, pastes = 40, 20
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	own := bootstrap.DefaultConfig()
	own.Database = cfg
	gluepot, stop, err := bootstrap.Open(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	node := program.Serve(t, cfg.URL)
	all := newExporters(t, gluepot, node, exporters, pastes)
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	long := createRaw(t, node, strings.Repeat("x", 2<<20))
	looking := look(t, node)
	export := func(who []exporter, rate int) {
		t.Helper()
		var exporting sync.WaitGroup
		for _, e := range who {
			exporting.Go(func() {
				if files, err := e.export(t, node, rate); err != nil || files != 2+pastes {
					t.Errorf("got %d files, error %v, want %d", files, err, 2+pastes)
				}
			})
		}
		exporting.Wait()
	}
	time.Sleep(time.Second)
	alone := looking.cut()
	for range 5 {
		export(all[:1], 0)
	}
	besideOne := looking.cut()
	began := time.Now()
	export(all, 0)
	took := time.Since(began).Round(time.Millisecond)
	besideAll := looking.stop()
	record(t, "look-ups alone", fmt.Sprint(alone, "; p95 ", alone.percentile(0.95), ", ", alone.wait()), "all right")
	record(t, "look-ups beside one export", fmt.Sprint(besideOne, "; p95 ", besideOne.percentile(0.95), ", ",
		besideOne.wait()), "all right")
	record(t, fmt.Sprint("look-ups beside ", exporters, " exports"),
		fmt.Sprint(besideAll, "; p95 ", besideAll.percentile(0.95), ", ", besideAll.wait()), "all right, p99 within 3 times")
	record(t, fmt.Sprint(exporters, " exports of ", pastes, " pastes"), took, "")
	besideAll.wantAllRight(t)
	wantNotSlowed(t, besideAll, besideOne)

	var slow sync.WaitGroup
	slow.Go(func() { export(all, 32<<10) })
	reading := load{clients: 2, to: at(node.Address),
		questions: []question{{"/paste/" + long, "", func(status int, body string) bool {
			return status == http.StatusOK && len(body) > 2<<20
		}}}}.start(t)
	slow.Wait()
	beside := reading.stop()
	record(t, fmt.Sprint("answers of 2 MiB beside ", exporters, " exports that are read slowly"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	beside.wantAllRight(t)
	wantPeakBelow(t, node, 256<<20)
}
