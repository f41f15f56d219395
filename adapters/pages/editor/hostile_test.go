package editor_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/visit"
)

// TestHostileForm checks that everything typed comes back as text.
func TestHostileForm(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	const typed = "\n\n \x00</textarea></title><script>x()</script>\" onfocus='x()' {x} @y &amp;\t"
	page := s.Returns("/", http.StatusOK, visit.Form{
		"title", typed, "snippet", typed, "name", typed, "language", typed, "code", typed, "tags", typed, "visibility",
		typed, "do", "add",
	})
	const text = "\n\n \ufffd&lt;/textarea&gt;&lt;/title&gt;&lt;script&gt;x()&lt;/script&gt;&#34; " +
		"onfocus=&#39;x()&#39; {x} @y &amp;amp;\t"
	visit.WantIn(t, page, ">\n"+text+"</textarea>")
	if n := strings.Count(page, "onfocus"); n != strings.Count(page, "&#34; onfocus=&#39;x()&#39;") || n < 5 {
		t.Errorf("got the typed text %d times, want it escaped each time, in: %s", n, page)
	}
	if strings.Contains(page, "\x00") || strings.Contains(page, "<script>") {
		t.Errorf("got %s, want neither a null nor a typed element", page)
	}
}
