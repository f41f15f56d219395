package pastes_test

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	qr "github.com/piglig/go-qr"

	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestCreated checks that the browser that created a paste gets its link once, and never a button that burns it.
func TestCreated(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Configure(pages.Config{PublicURL: "https://paste.example"})
	ask := func(path string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		t.Helper()
		r := s.Asking(http.MethodGet, path, "", nil)
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		answer, err := s.Answers(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	create := func(form ...string) (path string, key, once *http.Cookie) {
		t.Helper()
		answer, err := s.Posts("/", form)
		if err != nil || len(answer.Result().Cookies()) != 2 {
			t.Fatalf("got %v, %v, want a paste and two cookies", err, answer.Header())
		}
		cookies := answer.Result().Cookies()
		return answer.Header().Get("Location"), cookies[0], cookies[1]
	}

	path, key, once := create("code", "x")
	link := `<input id="link" value="https://paste.example` + path + `" readonly`
	first := ask(path, key, once)
	visit.WantIn(t, first.Body.String(), "Paste created", link, `data-copy="link"`, `data-share="link"`,
		`src="`+path+`/qr.svg"`,
		`id="delete-key"`, `data-copy="delete-key"`, `data-copy="embed"`)
	cookies := first.Result().Cookies()
	if len(cookies) != 2 || cookies[0].Name != once.Name || cookies[0].MaxAge >= 0 || cookies[0].Path != path {
		t.Fatalf("got the cookies %v, want the first cleared", cookies)
	}
	again := ask(path, cookies[1]).Body.String()
	visit.WantIn(t, again, "<summary>Share</summary>", link)
	visit.WantNotIn(t, again, "Paste created", `id="delete-key"`)

	path, key, once = create("code", "x", "burn", "on")
	const opens = `<button class="main">Open and delete</button>`
	for name, cookies := range map[string][]*http.Cookie{"created": {key, once}, "reloaded": {once}, "later": {key}} {
		author := ask(path, cookies...).Body.String()
		visit.WantIn(t, author, `id="link" value="https://paste.example`+path+`"`)
		if strings.Contains(author, opens) {
			t.Errorf("%s: got %s, want no main button that burns the paste", name, author)
		}
	}
	visit.WantIn(t, ask(path).Body.String(), opens)
	visit.WantNotIn(t, ask(path).Body.String(), `id="link"`)
}

// TestPreviews checks that services that preview links get only what everyone with the link may read.
func TestPreviews(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Configure(pages.Config{PublicURL: "https://paste.example"})
	s.User("epoxy", true)
	_, s.Secret = s.Session("epoxy")
	private := s.Lands("/", visit.Form{"title", "secret title", "code", "secret code", "visibility", "private"})
	burning := s.Lands("/", visit.Form{"title", "secret title", "code", "secret code", "burn", "on"})
	for _, path := range []string{private, burning} {
		visit.WantNotIn(t, s.Page(path), "og:description", "og:title", "og:url", "twitter:card") // not even for the owner
	}
	s.Secret = ""
	visit.WantNotIn(t, s.Page(burning), "secret", "og:description")

	document := visit.Content(paste.Pasty{Language: "Go", Code: "\n\nfirst <b>\n\tsecond\n" + strings.Repeat("x", 4096)})
	document.Title = strings.Repeat("\u202e<script>", 512)
	s.Holds("k2j4x8m1", document)
	page := s.Page("/k2j4x8m1")
	visit.WantIn(t, page, "content=\"first &lt;b&gt;\n\tsecond\nxxx",
		`<meta property="og:url" content="https://paste.example/k2j4x8m1">`)
	visit.WantNotIn(t, page, "content=\"\u202e", "<script>", strings.Repeat("x", 300)+`">`)
	sealed := visit.Content()
	sealed.Cipher = &paste.Cipher{Version: 1, Data: []byte("secret")}
	s.Holds("sealed00", sealed)
	visit.WantIn(t, s.Page("/sealed00"), `<meta property="og:description" content="An encrypted paste">`)
}

var qrRun = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1`)

// decodeQR returns the text of a QR code.
func decodeQR(t *testing.T, picture string) string {
	t.Helper()
	size := regexp.MustCompile(`viewBox="0 0 (\d+) `).FindStringSubmatch(picture)
	if size == nil {
		t.Fatalf("got %s, want a picture", picture)
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return 4 * n }
	canvas := image.NewRGBA(image.Rect(0, 0, number(size[1]), number(size[1])))
	draw.Draw(canvas, canvas.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	for _, run := range qrRun.FindAllStringSubmatch(picture, -1) {
		x, y := number(run[1]), number(run[2])
		draw.Draw(canvas, image.Rect(x, y, x+number(run[3]), y+4), image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	text, err := qr.Decode(canvas)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestQRCode checks that the picture of a link has the same status as the page of the paste.
func TestQRCode(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Configure(pages.Config{PublicURL: "https://paste.example"})
	s.User("epoxy", true)
	_, owner := s.Session("epoxy")
	s.Secret = owner
	private := s.Lands("/", visit.Form{"code", "x", "visibility", "private"})
	s.Secret = ""
	expired, burning, sealed := visit.Content(paste.Pasty{Code: "x"}), visit.Content(paste.Pasty{Code: "x"}),
		visit.Content()
	expired.ExpiresAt = time.Now().Add(-time.Hour)
	burning.Burns = true
	sealed.Cipher = &paste.Cipher{Version: 1, Data: []byte("x")}
	s.Holds("k2j4x8m1", visit.Content(paste.Pasty{Code: "x"}))
	s.Holds("expired0", expired)
	s.Holds("burning0", burning)
	s.Holds("sealed00", sealed)
	for _, path := range []string{"/k2j4x8m1", "/expired0", "/burning0", "/sealed00", "/unknown0", private,
		"/favicon.ico"} {
		page, pageErr := s.Get(path)
		picture, err := s.Get(path + "/qr.svg")
		if fault.KindOf(err) != fault.KindOf(pageErr) || fault.MessageOf(err) != fault.MessageOf(pageErr) ||
			picture.Code != page.Code {
			t.Errorf("%s: got %d %v, want %d %v as for the page", path, picture.Code, err, page.Code, pageErr)
		}
		if err == nil && decodeQR(t, picture.Body.String()) != "https://paste.example"+path {
			t.Errorf("%s: got another link in %s, want that of the page", path, picture.Body)
		}
	}
	s.Secret = owner
	picture, err := s.Get(private + "/qr.svg")
	if err != nil || decodeQR(t, picture.Body.String()) != "https://paste.example"+private ||
		picture.Header().Get("Cache-Control") != "private, no-store" ||
		picture.Header().Get("Content-Type") != "image/svg+xml" {
		t.Errorf("got %v, %v, want the owner's picture, in no cache", err, picture.Header())
	}
	s.Secret = ""
	s.Configure(pages.Config{PublicURL: "https://" + strings.Repeat("long.", 50) + "example"})
	want := fmt.Sprintf("https://%sexample/k2j4x8m1", strings.Repeat("long.", 50))
	if got := decodeQR(t, s.Page("/k2j4x8m1/qr.svg")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
