package visit

import (
	"bytes"
	"fmt"
	"html"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/fake"
)

// Form is a list of field names, each followed by its value.
type Form []string

// Encode returns the form as browsers send it, with CRLF as the end of each line.
func (s Form) Encode(t testing.TB) (body, contentType string) {
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

// Posts sends a form to a path.
func (s *Site) Posts(path string, form Form) (*httptest.ResponseRecorder, error) {
	s.T.Helper()
	body, contentType := form.Encode(s.T)
	r := httptest.NewRequestWithContext(s.T.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "text/html")
	return s.Answers(r)
}

// Lands sends a form that must be accepted, and returns the path that the browser is redirected to.
func (s *Site) Lands(path string, form Form) string {
	s.T.Helper()
	answer, err := s.Posts(path, form)
	if err != nil || answer.Code != http.StatusSeeOther {
		s.T.Fatalf("%s: got %v, %d %s, want a redirect", path, err, answer.Code, answer.Body)
	}
	return answer.Header().Get("Location")
}

// Returns sends a form that must come back with this status, and returns the page.
func (s *Site) Returns(path string, status int, form Form) string {
	s.T.Helper()
	answer, err := s.Posts(path, form)
	if err != nil || answer.Code != status {
		s.T.Fatalf("%s: got %v, %d %s, want %d", path, err, answer.Code, answer.Body, status)
	}
	return answer.Body.String()
}

// Stored returns the paste at a path.
func (s *Site) Stored(path string) paste.Document {
	s.T.Helper()
	doc, err := fake.Pastes{Store: s.Store}.DocumentByID(s.T.Context(), paste.ID(strings.Trim(path, "/")))
	if err != nil {
		s.T.Fatal(err)
	}
	return doc
}

// Summary returns the content of a paste as text.
func Summary(d paste.Document) string {
	parts := []string{fmt.Sprintf("%q %s %q", d.Title, d.Visibility, d.Tags)}
	for _, p := range d.Pasties {
		parts = append(parts, fmt.Sprintf("%q %s %q", p.Title, p.Language, p.Code))
	}
	return strings.Join(parts, " ")
}

var (
	inputs    = regexp.MustCompile(`<input [^>]*name="([a-z-]+)"[^>]* value="([^"]*)"`)
	selects   = regexp.MustCompile(`(?s)<select [^>]*name="([a-z]+)"[^>]*>(.*?)</select>`)
	selected  = regexp.MustCompile(`<option(?: value="([a-z0-9]+)")? selected>([^<]*)<`)
	textareas = regexp.MustCompile(`(?s)<textarea [^>]*name="([a-z]+)"[^>]*>\n?(.*?)</textarea>`)
)

// FilledIn returns the form on a page as a browser sends it if the user only presses the button.
func FilledIn(page string) (form Form) {
	page = strings.ReplaceAll(Shown(page), "\x00", "\ufffd")
	for _, match := range inputs.FindAllStringSubmatch(page, -1) {
		form = append(form, match[1], strings.NewReplacer("\r", "", "\n", "").Replace(html.UnescapeString(match[2])))
	}
	for _, match := range selects.FindAllStringSubmatch(page, -1) {
		option := selected.FindStringSubmatch(match[2])
		value := option[1]
		if value == "" {
			value = strings.Join(strings.Fields(html.UnescapeString(option[2])), " ") // HTML, 4.10.10: text of an option
		}
		form = append(form, match[1], value)
	}
	for _, match := range textareas.FindAllStringSubmatch(page, -1) {
		form = append(form, match[1], html.UnescapeString(strings.ReplaceAll(match[2], "\r", "\n")))
	}
	return append(form, "do", "save")
}

// template matches parts of a page that are for its script and not shown.
var template = regexp.MustCompile(`(?s)<template.*?</template>`)

// Shown returns a page without the parts that only its script would show.
func Shown(page string) string { return template.ReplaceAllString(page, "") }

// With returns the form with another value in the nth field of this name, counted from 0.
func (s Form) With(name string, n int, value string) Form {
	s = slices.Clone(s)
	for i := 0; i < len(s); i += 2 {
		if s[i] != name {
			continue
		}
		if n == 0 {
			s[i+1] = value
		}
		n--
	}
	return s
}
