package pastes_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestPreview checks that a preview renders Markdown as a paste's page does, and is for those who may create a paste.
func TestPreview(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	page := s.Returns("/preview", http.StatusOK, visit.Form{"code", "# Title\n\n*text*\n\n<script>x()</script>"})
	visit.WantIn(t, page, `<div class="rendered">`, "<em>text</em>")
	if strings.Contains(page, "<script>x") {
		t.Errorf("got %s, want no script", page)
	}
	visit.WantIn(t, s.Returns("/preview", http.StatusOK, visit.Form{"code", strings.Repeat("*a* ", 17<<10)}), "Too long")
	s.Serve(pastes.Options{Rules: s.Rules, AnonymousQuota: paste.Quota{Pastes: 1, Window: time.Hour}})
	s.Returns("/preview", http.StatusOK, visit.Form{"code", "x"})
	if _, err := s.Posts("/preview", visit.Form{"code", "x"}); !fault.Is(err, fault.Exhausted) {
		t.Errorf("got %v for more previews than pastes may be created, want fault.Exhausted", err)
	}
	s.Serve(pastes.Options{Rules: s.Rules, TokenRequired: true})
	if _, err := s.Posts("/preview", visit.Form{"code", "x"}); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v for a visitor who may not create, want fault.Unauthenticated", err)
	}
}
