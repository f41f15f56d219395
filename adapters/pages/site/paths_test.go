package site

import (
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for path, local := range map[string]bool{
		"/": true, "/pastes?after=1.a": true, "/k2j4x8m1/edit": true, "/a//b": true, "/%2F/evil.example": true,
		"/?next=//evil.example": true,
		"":                      false, "//evil.example": false, "///evil.example": false, `/\evil.example`: false,
		`\\evil.example`:        false,
		"https://evil.example/": false, "javascript:alert(1)": false, "evil.example": false, "/\t/evil.example": false,
		"/\n/evil.example": false, "/a\r\nSet-Cookie: a=b": false, " /a": false, "/a b": false, "/ü": false, "/%zz": false,
		"/sign-in?next=/a": true, "/sign-in/github?link=1": false, "/a/../sign-in/github": false, "/sign%2Din/github": false,
		"/./sign-in/x":                     false,
		"/" + strings.Repeat("a", maxNext): false,
	} {
		want := "/otherwise"
		if local {
			want = path
		}
		if got := LocalPath(path, "/otherwise"); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	for _, at := range []int64{-62_135_596_800_000_000, -1, 0, 1795282550000001, 253_402_300_799_999_999} {
		cursor := paste.Cursor{CreatedAt: time.UnixMicro(at).UTC(), ID: "k2j4x8m1"}
		if got, err := ParseCursor(FormatCursor(cursor)); err != nil || got != cursor {
			t.Errorf("got %v, %v, want %v", got, err, cursor)
		}
	}
	for _, text := range []string{"253402300800000000.k2j4x8m1", "-62135596800000001.k2j4x8m1", "1.", "1", "x.k2j4x8m1"} {
		if got, err := ParseCursor(text); err == nil {
			t.Errorf("%s: got %v, want an error", text, got)
		}
	}
}
