package editor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestFront(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	page := s.Page("/")
	visit.WantIn(t, page, `href="/api/v2/docs"`, `href="/api/v2/openapi.yaml"`, `href="/api/v2/openapi.json"`,
		`placeholder="Autodetect"`, `<option>C++<`, "cannot be edited later")
	if strings.Contains(page, `name="visibility"`) || strings.Contains(page, `name="tags"`) ||
		!strings.Contains(page, `aria-label="Remove snippet 1" hidden>`) {
		t.Errorf("got %s, want neither visibility nor tags nor a snippet to remove", page)
	}
	// Every lifetime in the form is valid.
	_, lifetimes, _ := strings.Cut(page, `name="expires"`)
	for _, rest := range strings.Split(lifetimes, `<option value="`)[1:] {
		value, _, _ := strings.Cut(rest, `"`)
		if _, err := paste.ParseLifetime(value); err != nil {
			t.Errorf("got the lifetime %s to select, want only valid ones: %v", value, err)
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	const code = "\n\tfirst\n\nlast \x00\u202e"
	path := s.Lands("/", visit.Form{
		"title", "A <title>", "snippet", "", "name", "main.go", "language", "Go", "code", code,
		"snippet", "", "name", "", "language", "Autodetect", "code", "", // left empty
		"snippet", "", "name", "empty", "language", "", "code", "",
		"expires", "1h", "do", "save",
	})
	got := s.Stored(path)
	if want := fmt.Sprintf(`"A <title>" unlisted [] "main.go" Go %q "empty" Autodetect ""`,
		code); visit.Summary(got) != want {
		t.Errorf("got %s, want %s", visit.Summary(got), want)
	}
	if got.Owner != "" || !got.ExpiresAt.Equal(got.CreatedAt.Truncate(time.Second).Add(time.Hour)) {
		t.Errorf("got the owner %q and the time %v to %v, want nobody and an hour", got.Owner, got.CreatedAt, got.ExpiresAt)
	}
	// A form as a program might send it.
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
		strings.NewReader(url.Values{"code": {"x\r\ny"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := s.Answers(r)
	if err != nil || answer.Code != http.StatusSeeOther {
		t.Fatalf("got %v, %d, want a redirect", err, answer.Code)
	}
	if got := visit.Summary(s.Stored(answer.Header().Get("Location"))); got != `"" unlisted [] "" Autodetect "x\ny"` {
		t.Errorf("got %s, want the code alone", got)
	}
}

// filledForm is a form with text in every field.
var filledForm = visit.Form{
	"title", "T<", "snippet", "", "name", "a<.go", "language", "Go", "code", "\n<one>",
	"snippet", "", "name", "b.c", "language", "C", "code", "two", "expires", "2d",
}

// wantFilledForm checks that a page has everything of filledForm.
func wantFilledForm(t *testing.T, page string) {
	t.Helper()
	visit.WantIn(t, page, `value="T&lt;"`, `value="a&lt;.go"`, "\n\n&lt;one&gt;</textarea>", `value="b.c"`,
		"\ntwo</textarea>",
		`name="language" value="Go"`, `name="language" value="C"`, `<option value="2d" selected>`)
}

func TestSnippetsOfAForm(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	page := s.Returns("/", http.StatusOK, append(slices.Clone(filledForm), "do", "add"))
	wantFilledForm(t, page)
	visit.WantIn(t, page, "<legend>Snippet 3</legend>")
	page = visit.Shown(page)
	if n := strings.Count(page, "<textarea"); n != 3 || strings.Count(page, "autofocus") != 1 {
		t.Errorf("got %d snippets and %d with the focus, want three and one", n, strings.Count(page, "autofocus"))
	}
	page = s.Returns("/", http.StatusOK, append(slices.Clone(filledForm), "do", "remove-1"))
	if strings.Contains(page, "&lt;one") || strings.Contains(page, "Snippet 2") ||
		!strings.Contains(page, "two</textarea>") {
		t.Errorf("got %s, want the second snippet alone", page)
	}
	page = s.Returns("/", http.StatusOK, visit.Form{"code", "zzz", "do", "remove-1"})
	page = visit.Shown(page)
	if n := strings.Count(page, "<textarea"); n != 1 || strings.Contains(page, "zzz") {
		t.Errorf("got %d snippets in %s, want an empty one", n, page)
	}
	for _, do := range []string{"remove-0", "remove-9", "remove-x", "remove-99999999999999999999"} {
		wantFilledForm(t, s.Returns("/", http.StatusOK, append(slices.Clone(filledForm), "do", do)))
	}
	full := slices.Repeat(visit.Form{"code", "x"}, 100)
	visit.WantIn(t, s.Returns("/", http.StatusOK, append(slices.Clone(full), "do", "add")),
		"A paste can have at most 100 snippets here.")
	for _, form := range []visit.Form{append(full, "code", "x"), {"title", "x"},
		slices.Repeat(visit.Form{"x", ""}, 520+1)} {
		if _, err := s.Posts("/", form); !fault.Is(err, fault.Invalid) {
			t.Errorf("got %v for a form of %d fields, want fault.Invalid", err, len(form)/2)
		}
	}
}

// TestWrongForms breaks each rule that a form can break. The form comes back with everything that was typed, and shows
// the problem at the field.
func TestWrongForms(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Rules.Limits.ContentBytes, s.Rules.Limits.Pasties = 20_000, 2
	s.Rules.Language = func(name, _, _ string) (string, bool) { return name, name != "Klingon" }
	s.Serve(pastes.Options{Rules: s.Rules})
	broken := "\xff\xfe"
	for field, c := range map[string]struct {
		form visit.Form
		want string // after the field
	}{
		"title": {visit.Form{"title", strings.Repeat("x", 1025), "code", "x"}, "It must have at most 1024 characters."},
		"name-2": {visit.Form{"code", "x", "name", "", "code", "x", "name", strings.Repeat("x", 4097)},
			"It must have at most 4096 characters."},
		"language-1": {visit.Form{"code", "x", "language", "Klingon"}, "No language has that name."},
		"code-1":     {visit.Form{"code", "", "code", ""}, "It is required."},
		"code-3":     {visit.Form{"code", "x", "code", "", "code", broken}, "It must be valid UTF-8."},
		"expires":    {visit.Form{"code", "x", "expires", "3d"}, "It must be one of never, 1h"},
		"pasties":    {visit.Form{"code", "x", "code", "x", "code", "x"}, "There may be at most 2."},
		"":           {visit.Form{"code", "x", "expires", "1h", "visibility", "public"}, "You are no longer signed in."},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			status := http.StatusBadRequest
			if field == "" {
				status = http.StatusUnauthorized
			}
			page := s.Returns("/", status, c.form)
			problem := regexp.MustCompile(`<p class="problem"[^>]*>` + regexp.QuoteMeta(c.want)).FindString(page)
			if problem == "" || strings.Count(page, `class="problem"`) != 1 {
				t.Errorf("got %.8000s, want %s as the only problem", page, c.want)
			}
			if field != "" && field != "pasties" {
				visit.WantIn(t, problem, `id="`+field+`-problem"`)
				visit.WantIn(t, page, `aria-describedby="`+field+`-problem" aria-invalid="true"`)
				if strings.Count(page, "autofocus") != 1 {
					t.Errorf("got %d fields with the focus, want one", strings.Count(page, "autofocus"))
				}
			}
		})
	}
	visit.WantIn(t, s.Returns("/", http.StatusBadRequest, visit.Form{"code", "x", "visibility", "secret"}),
		site.ErrBrokenForm.Message)
	_, err := s.Posts("/", slices.Repeat(visit.Form{"code", "x"}, 101))
	if want := "This form takes at most 100 snippets. Use the API for more."; !fault.Is(err, fault.Invalid) ||
		fault.MessageOf(err) != want {
		t.Errorf("got %v for 101 snippets, want %s", err, want)
	}
}

// TestCreateWithoutRoom sends forms with a quota that is used up, and to a site without anonymous pastes.
func TestCreateWithoutRoom(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Serve(pastes.Options{Rules: s.Rules, AnonymousQuota: paste.Quota{Pastes: 1, Window: time.Hour}})
	s.Lands("/", filledForm)
	answer, err := s.Posts("/", filledForm)
	if err != nil || answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") != "3600" {
		t.Fatalf("got %v, %d, %v, want 429 and Retry-After: 3600", err, answer.Code, answer.Header())
	}
	wantFilledForm(t, answer.Body.String())
	visit.WantIn(t, answer.Body.String(), "Send this again in 60 minutes.")

	s.Serve(pastes.Options{Rules: s.Rules, TokenRequired: true})
	if page := s.Page("/"); strings.Contains(page, `id="paste-form"`) ||
		!strings.Contains(page, `href="/sign-in?next=%2F"`) {
		t.Errorf("got %s, want a link to sign in instead of the form", page)
	}
	// A user whose session ended after opening the form loses nothing.
	wantFilledForm(t, s.Returns("/", http.StatusUnauthorized, append(slices.Clone(filledForm), "signed-in", "true")))
	wantFilledForm(t, s.Returns("/", http.StatusOK, append(slices.Clone(filledForm), "signed-in", "true", "do", "add")))
}

// TestLifetimesOfAForm checks that the form offers only allowed lifetimes, and preselects the default.
func TestLifetimesOfAForm(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Serve(pastes.Options{Rules: s.Rules, AnonymousLifetimes: paste.Lifetimes{Default: "1d", Longest: "1w"}})
	page := s.Page("/")
	visit.WantIn(t, page, `<option value="1d" selected>`, `<option value="1w">`)
	for _, longer := range []string{"1m", "1y", "never"} {
		if strings.Contains(page, `<option value="`+longer+`"`) {
			t.Errorf("got %s to select, want only what is allowed", longer)
		}
	}
	for lifetime, want := range map[string]paste.Lifetime{"2h": "2h", "never": "1w", "": "1d"} {
		if got := s.Stored(s.Lands("/", visit.Form{"code", "x", "expires", lifetime})); got.ExpiresIn() != want {
			t.Errorf("%q: got %s, want %s", lifetime, got.ExpiresIn(), want)
		}
	}
}

// TestDefaultLanguage checks that the form begins with the reader's default language, if the catalogue has it.
func TestDefaultLanguage(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("Epoxy", true)
	_, s.Secret = s.Session("epoxy")
	for language, want := range map[string]string{"Go": "Go", "rust": "Rust", "Klingon": "Autodetect",
		"Autodetect": "Autodetect"} {
		if _, err := s.Users.Update.Do(s.T.Context(), audit.Operator(), "epoxy",
			users.UpdateInput{DefaultLanguage: &language}); err != nil {
			t.Fatal(err)
		}
		want = `name="language" value="` + strings.TrimPrefix(want, "Autodetect") + `"`
		visit.WantIn(t, visit.Shown(s.Page("/")), want)
		page := visit.Shown(s.Returns("/", http.StatusOK, visit.Form{"code", "x", "language", "C", "do", "add"}))
		if !strings.Contains(page, `name="language" value="C"`) || strings.Count(page, want) != 1 {
			t.Errorf("%s: got another language than %s for one more snippet, or other than C for the first", language, want)
		}
	}
}

// TestProgramsAtTheForm sends text to the form, as curl does, and forms that no browser sends.
func TestProgramsAtTheForm(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	const raw = "http://example.com/api/v2/raw"
	const useRaw = "Send text or a file to " + raw + ": curl --data-binary @FILE " + raw
	for name, c := range map[string]struct{ contentType, accept, body, want string }{
		"curl -d x":                  {"application/x-www-form-urlencoded", "*/*", "x", useRaw},
		"curl --data-binary @FILE":   {"application/x-www-form-urlencoded", "*/*", "a=b&c%d;e\n", useRaw},
		"a text with its type":       {"text/plain", "*/*", "x", useRaw},
		"JSON":                       {"application/json", "", `{"pasties":[{"code":"x"}]}`, useRaw},
		"nothing":                    {"", "*/*", "", useRaw},
		"a form that a browser cuts": {"text/plain", "text/html,*/*;q=0.8", "x", site.ErrBrokenForm.Message},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(c.body))
			r.URL.Scheme = "http" // as httpapi sets it
			r.Header = http.Header{"Content-Type": {c.contentType}, "Accept": {c.accept}}
			if _, err := s.Answers(r); !fault.Is(err, fault.Invalid) || !strings.HasSuffix(fault.MessageOf(err), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
