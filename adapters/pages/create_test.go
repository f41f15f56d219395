package pages

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/fake"
)

// sent is a form: names of fields, each followed by its value.
type sent []string

// encode returns it as browsers send it: every line end is two characters.
func (s sent) encode(t testing.TB) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(s); i += 2 {
		if err := w.WriteField(s[i], strings.ReplaceAll(s[i+1], "\n", "\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// posts sends a form to a path.
func (s *site) posts(path string, form sent) (*httptest.ResponseRecorder, error) {
	s.t.Helper()
	body, contentType := form.encode(s.t)
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	return s.answers(r)
}

// lands sends a form that is taken, and returns the path that the browser is sent to.
func (s *site) lands(path string, form sent) string {
	s.t.Helper()
	answer, err := s.posts(path, form)
	if err != nil || answer.Code != http.StatusSeeOther {
		s.t.Fatalf("%s: got %v, %d %s, want another page", path, err, answer.Code, answer.Body)
	}
	return answer.Header().Get("Location")
}

// returns sends a form that comes back with that status.
func (s *site) returns(path string, status int, form sent) string {
	s.t.Helper()
	answer, err := s.posts(path, form)
	if err != nil || answer.Code != status {
		s.t.Fatalf("%s: got %v, %d %s, want %d", path, err, answer.Code, answer.Body, status)
	}
	return answer.Body.String()
}

// stored returns a paste by its path.
func (s *site) stored(path string) paste.Document {
	s.t.Helper()
	found, err := fake.Pastes{Store: s.store}.DocumentByID(s.t.Context(), paste.ID(strings.Trim(path, "/")))
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// summary is what a paste holds.
func summary(d paste.Document) string {
	text := fmt.Sprintf("%q %s %q", d.Title, d.Visibility, d.Tags)
	for _, p := range d.Pasties {
		text += fmt.Sprintf(" %q %s %q", p.Title, p.Language, p.Code)
	}
	return text
}

func TestFront(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.page("/")
	wantIn(t, page, `href="/api/v2/docs"`, `href="/api/v2/openapi.yaml"`, `href="/api/v2/openapi.json"`,
		`<option selected>Autodetect</option>`, "<option>C++</option>", "cannot be edited later")
	if strings.Contains(page, `name="visibility"`) || strings.Contains(page, `name="tags"`) || strings.Contains(page, "Remove") {
		t.Errorf("got %s, want neither visibility nor tags nor a snippet to remove", page)
	}
	// Each that it can be filled in with is one that the rules take.
	for _, rest := range strings.Split(page, `<option value="`)[1:] {
		value, _, _ := strings.Cut(rest, `"`)
		if _, err := paste.ParseLifetime(value); err != nil && value != lifeBurn {
			t.Errorf("got the lifetime %s to select, want none that is refused: %v", value, err)
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const code = "\n\tfirst\n\nlast \x00\u202e"
	path := s.lands("/", sent{
		"title", "A <title>", "snippet", "", "name", "main.go", "language", "Go", "code", code,
		"snippet", "", "name", "", "language", "Autodetect", "code", "", // nobody has filled it in
		"snippet", "", "name", "empty", "language", "", "code", "",
		"expires", "1h", "do", "save",
	})
	got := s.stored(path)
	if want := fmt.Sprintf(`"A <title>" unlisted [] "main.go" Go %q "empty" Autodetect ""`, code); summary(got) != want {
		t.Errorf("got %s, want %s", summary(got), want)
	}
	if got.Owner != "" || !got.ExpiresAt.Equal(got.CreatedAt.Truncate(time.Second).Add(time.Hour)) {
		t.Errorf("got the owner %q and the time %v to %v, want nobody and an hour", got.Owner, got.CreatedAt, got.ExpiresAt)
	}
	// The same, as programs might send it.
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(url.Values{"code": {"x\r\ny"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := s.answers(r)
	if err != nil || answer.Code != http.StatusSeeOther {
		t.Fatalf("got %v, %d, want another page", err, answer.Code)
	}
	if got := summary(s.stored(answer.Header().Get("Location"))); got != `"" unlisted [] "" Autodetect "x\ny"` {
		t.Errorf("got %s, want the code alone", got)
	}
}

// filled is a form that has something in every field.
var filled = sent{
	"title", "T<", "snippet", "", "name", "a<.go", "language", "Go", "code", "\n<one>",
	"snippet", "", "name", "b.c", "language", "C", "code", "two", "expires", "2d",
}

// wantKept fails the test unless a page has everything that was filled in.
func wantKept(t *testing.T, page string) {
	t.Helper()
	wantIn(t, page, `value="T&lt;"`, `value="a&lt;.go"`, "\n\n&lt;one&gt;</textarea>", `value="b.c"`, "\ntwo</textarea>",
		"<option selected>Go</option>", "<option selected>C</option>", `<option value="2d" selected>`)
}

func TestSnippetsOfAForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.returns("/", http.StatusOK, append(slices.Clone(filled), "do", "add"))
	wantKept(t, page)
	wantIn(t, page, "<legend>Snippet 3</legend>")
	if n := strings.Count(page, "<textarea"); n != 3 || strings.Count(page, "autofocus") != 1 {
		t.Errorf("got %d snippets and %d with the focus, want three and one", n, strings.Count(page, "autofocus"))
	}
	page = s.returns("/", http.StatusOK, append(slices.Clone(filled), "do", "remove-1"))
	if strings.Contains(page, "&lt;one") || strings.Contains(page, "Snippet 2") || !strings.Contains(page, "two</textarea>") {
		t.Errorf("got %s, want the second snippet alone", page)
	}
	page = s.returns("/", http.StatusOK, sent{"code", "zzz", "do", "remove-1"})
	if n := strings.Count(page, "<textarea"); n != 1 || strings.Contains(page, "zzz") {
		t.Errorf("got %d snippets in %s, want an empty one", n, page)
	}
	for _, do := range []string{"remove-0", "remove-9", "remove-x", "remove-99999999999999999999"} {
		wantKept(t, s.returns("/", http.StatusOK, append(slices.Clone(filled), "do", do)))
	}
	full := slices.Repeat(sent{"code", "x"}, maxFormSnippets)
	wantIn(t, s.returns("/", http.StatusOK, append(slices.Clone(full), "do", "add")), "There is no room for more than 100.")
	for _, form := range []sent{append(full, "code", "x"), {"title", "x"}, slices.Repeat(sent{"x", ""}, maxFormFields+1)} {
		if _, err := s.posts("/", form); !fault.Is(err, fault.Invalid) {
			t.Errorf("got %v for a form of %d fields, want that it is none", err, len(form)/2)
		}
	}
}

// TestWrongForms breaks each rule that a form can break. The form comes back with all that was typed, and says so at the field.
func TestWrongForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.rules.Limits.ContentBytes, s.rules.Limits.Pasties = 20_000, 2
	s.rules.Language = func(wanted, _, _ string) (string, bool) { return wanted, wanted != "Klingon" }
	s.serve(pastes.Options{Rules: s.rules})
	broken := "\xff\xfe"
	for field, c := range map[string]struct {
		form sent
		want string // after the field
	}{
		"title":      {sent{"title", strings.Repeat("x", 1025), "code", "x"}, "It is longer than 1024 characters."},
		"name-2":     {sent{"code", "x", "name", "", "code", "x", "name", strings.Repeat("x", 4097)}, "It is longer than 4096 characters."},
		"language-1": {sent{"code", "x", "language", "Klingon"}, "No language has that name."},
		"code-1":     {sent{"code", "", "code", ""}, "It is missing."},
		"code-3":     {sent{"code", "x", "code", "", "code", broken}, "It is not valid UTF-8."},
		"expires":    {sent{"code", "x", "expires", "3d"}, "It must be one of never, 1h"},
		"pasties":    {sent{"code", "x", "code", "x", "code", "x"}, "There are more than 2."},
		"":           {sent{"code", "x", "expires", "1h", "visibility", "public"}, "You have to sign in to do this."},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			status := http.StatusBadRequest
			if field == "" {
				status = http.StatusUnauthorized
			}
			page := s.returns("/", status, c.form)
			problem := regexp.MustCompile(`<p class="problem"[^>]*>` + regexp.QuoteMeta(c.want)).FindString(page)
			if problem == "" || strings.Count(page, `class="problem"`) != 1 {
				t.Errorf("got %.8000s, want %s as the only problem", page, c.want)
			}
			if field != "" && field != "pasties" {
				wantIn(t, problem, `id="`+field+`-problem"`)
				wantIn(t, page, `aria-describedby="`+field+`-problem" autofocus`)
			}
		})
	}
	wantIn(t, s.returns("/", http.StatusBadRequest, sent{"code", "x", "visibility", "secret"}), errBrokenForm.Message)
}

// TestCreateWithoutRoom has a client whose quota is used up, and an installation without anonymous pastes.
func TestCreateWithoutRoom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.serve(pastes.Options{Rules: s.rules, AnonymousQuota: paste.Quota{Pastes: 1, Window: time.Hour}})
	s.lands("/", filled)
	answer, err := s.posts("/", filled)
	if err != nil || answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") != "3600" {
		t.Fatalf("got %v, %d, %v, want 429 and when", err, answer.Code, answer.Header())
	}
	wantKept(t, answer.Body.String())
	wantIn(t, answer.Body.String(), "Send this again in 60 minutes.")

	s.serve(pastes.Options{Rules: s.rules, TokenRequired: true})
	if page := s.page("/"); strings.Contains(page, "<form") || !strings.Contains(page, `href="/sign-in?next=%2F"`) {
		t.Errorf("got %s, want no form, and where to sign in", page)
	}
	// Whoever opened the form had signed in, and loses nothing when the session has ended since.
	wantKept(t, s.returns("/", http.StatusUnauthorized, append(slices.Clone(filled), "opener", "anybody")))
	wantKept(t, s.returns("/", http.StatusOK, append(slices.Clone(filled), "opener", "anybody", "do", "add")))
}

// TestLifetimesOfAForm offers only those that are allowed, and begins with the default.
func TestLifetimesOfAForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.serve(pastes.Options{Rules: s.rules, AnonymousLifetimes: paste.Lifetimes{Default: "1d", Longest: "1w"}})
	page := s.page("/")
	wantIn(t, page, `<option value="1d" selected>`, `<option value="1w">`)
	for _, longer := range []string{"1m", "1y", "never"} {
		if strings.Contains(page, `<option value="`+longer+`"`) {
			t.Errorf("got %s to select, want only what is allowed", longer)
		}
	}
	for wanted, want := range map[string]paste.Lifetime{"2h": "2h", "never": "1w", "": "1d"} {
		if got := s.stored(s.lands("/", sent{"code", "x", "expires", wanted})); got.ExpiresIn() != want {
			t.Errorf("%q: got %s, want %s", wanted, got.ExpiresIn(), want)
		}
	}
}

func TestInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Millisecond: "1 second", 90 * time.Second: "90 seconds", 121 * time.Second: "3 minutes", time.Hour: "60 minutes",
		150 * time.Minute: "3 hours",
	} {
		if got := inWords(d); got != want {
			t.Errorf("got %s for %v, want %s", got, d, want)
		}
	}
}

// TestDefaultLanguage has the form begin with the language that its reader has chosen, if it is known here.
func TestDefaultLanguage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.user("Epoxy", true)
	_, s.secret = s.session("epoxy")
	for chosen, want := range map[string]string{"Go": "Go", "rust": "Rust", "Klingon": "Autodetect", "Autodetect": "Autodetect"} {
		if _, err := s.users.Update.Do(s.t.Context(), "epoxy", users.UpdateInput{DefaultLanguage: &chosen}); err != nil {
			t.Fatal(err)
		}
		wantIn(t, s.page("/"), "<option selected>"+want+"</option>")
		page := s.returns("/", http.StatusOK, sent{"code", "x", "language", "C", "do", doAdd})
		if !strings.Contains(page, "<option selected>C</option>") ||
			strings.Count(page, "<option selected>"+want+"</option>") != 1 {
			t.Errorf("%s: got another language than %s for one more snippet, or other than C for the first", chosen, want)
		}
	}
}
