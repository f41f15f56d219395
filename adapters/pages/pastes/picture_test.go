package pastes_test

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/adapters/pages/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestPicture checks that a picture shows only what everyone with the link may read, and that pages link to pictures
// that there are.
func TestPicture(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Configure(pages.Config{PublicURL: "https://paste.example"})
	s.User("epoxy", true)
	_, s.Secret = s.Session("epoxy")
	private := s.Lands("/", visit.Form{"code", "x", "visibility", "private"})
	burning := s.Lands("/", visit.Form{"code", "x", "burn", "on"})
	public := s.Lands("/", visit.Form{"code", "x", "visibility", "public"})
	sealed := visit.Content()
	sealed.Cipher = &paste.Cipher{Version: 1, Data: []byte("x")}
	s.Holds("sealed00", sealed)
	s.Holds("unlisted", visit.Content(paste.Pasty{Code: " \n"}, paste.Pasty{Language: "Go", Code: "package main"}))
	s.Holds("hostile0", visit.Content(paste.Pasty{Language: "Markdown", Title: "\u202e\x00",
		Code: "\u202e\x00\xff\x1b[31m" + strings.Repeat("<b>[![](", 1<<16)}))
	foreign := visit.Content(paste.Pasty{Code: "package main", Language: strings.Repeat("W", 16<<10)})
	foreign.Title = "日本語のメモ"
	s.Holds("foreign0", foreign)
	s.Holds("blank000", visit.Content(paste.Pasty{Code: " \n\t"}))
	s.Holds("chinese0", visit.Content(paste.Pasty{Code: "你好，世界"}))
	for _, secret := range []string{s.Secret, ""} {
		s.Secret = secret
		for path, want := range map[string]bool{
			public: true, "/unlisted": true, "/hostile0": true, "/foreign0": true,
			private: false, burning: false, "/sealed00": false, "/blank000": false, "/chinese0": false, "/unknown0": false,
		} {
			page, _ := s.Get(path)
			link := fmt.Sprintf(`<meta property="og:image" content="https://paste.example%s/picture.png">`, path)
			if got := strings.Contains(page.Body.String(), link); got != want {
				t.Errorf("%s: got a link to the picture: %t, want %t", path, got, want)
			}
			for range 2 { // the second is from the cache
				answer, err := s.Get(path + "/picture.png")
				if !want {
					if !fault.Is(err, fault.NotFound) {
						t.Errorf("%s: got error %v, want fault.NotFound", path, err)
					}
					continue
				}
				if _, pngErr := png.Decode(bytes.NewReader(answer.Body.Bytes())); err != nil || pngErr != nil ||
					answer.Header().Get("Content-Type") != "image/png" {
					t.Errorf("%s: got error %v, %v, headers %v, want a picture", path, err, pngErr, answer.Header())
				}
			}
		}
	}
}

// TestPictureOfManyPasties checks that looking for a picture, as each page of a paste does, allocates nothing for each
// pasty without text.
func TestPictureOfManyPasties(t *testing.T) { //nolint:paralleltest // it counts the allocations of the process
	many := visit.Content(make([]paste.Pasty, 1000)...)
	many.Title = ""
	for i := range many.Pasties {
		many.Pasties[i].Title = "\u3000"
	}
	if got := testing.AllocsPerRun(10, func() { pastes.HasPicture(&many) }); got > 100 {
		t.Errorf("got %v allocations for a paste without text, want none for each of its 1000 pasties", got)
	}
}
