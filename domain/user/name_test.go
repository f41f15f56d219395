package user

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestParseName(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"a": true, "7": true, "A.b-c_D": true, "selfish": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "-a": false, "a-": false, ".": false, "_a": false, "a b": false,
		"self": false, "SELF": false, "sElF": false, "ä": false, "a\x00b": false, "a\xffb": false, "a/b": false,
		"\u202ea": false,
	} {
		got, err := ParseName(name)
		switch {
		case valid && (err != nil || got.String() != name || got.Folded() != strings.ToLower(name)):
			t.Errorf("%q: got %v, error %v, want the name as it is", name, got, err)
		case !valid && (!fault.Is(err, fault.Invalid) || got != Name{}):
			t.Errorf("%q: got %v, error %v, want no name and %v", name, got, err, fault.Invalid)
		}
	}
}

func TestCheckChosen(t *testing.T) {
	t.Parallel()
	for name, free := range map[string]bool{"ann": true, "Administrators": true, "admin": false, "ROOT": false,
		"Support": false} {
		got, err := ParseName(name)
		if err != nil {
			t.Errorf("%s: got %v, want a name", name, err)
		}
		if err := got.CheckChosen(); free && err != nil || !free && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want it free to choose: %t", name, err, free)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, seed := range []string{"", "a", "Some.Body-1_x", "self", "\xff", "a\x00", strings.Repeat("a", 65)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := ParseName(s)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Error(err)
			}
			return
		}
		again, err := ParseName(name.Folded())
		if err != nil || again.Folded() != name.Folded() || name.String() != s || len(s) > MaxNameLength {
			t.Errorf("%q: got %v of its folded form, error %v, want the same name", s, again, err)
		}
	})
}

func TestCheckAvatar(t *testing.T) {
	t.Parallel()
	for address, valid := range map[string]bool{
		"": true, "https://example.com": true, "https://example.com:8443/a.png?b=c&d=%22#e": true, "https://[::1]/a": true,
		"https://example.com/ü.png": true, "HTTPS://example.com/a": true,
		"a": false, "//example.com/a": false, "http://example.com/a": false, "javascript:alert(1)": false, "https:": false,
		"https:///a":     false,
		"https://:443/a": false, "https://%zz/a": false, "https://example.com/a b": false,
		`https://example.com/"onload="x`: false,
		"https://example.com/'":          false, "https://example.com/`": false, "https://example.com/<b>": false,
		`https://example.com\a`:  false,
		"https://example.com/\n": false, "https://example.com/\u202e": false, "https://example.com/\xff": false,
		"https://example.com/" + strings.Repeat("x", 2048): false,
	} {
		if err := CheckAvatar(address); valid && err != nil || !valid && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: got %v, want it accepted: %t", address, err, valid)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	name, err := ParseName("somebody")
	if err != nil {
		t.Fatal(err)
	}
	valid := User{ID: "x", Name: name, DefaultLanguage: "Go"}
	if err := valid.Validate(); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*User){
		"no id":             func(u *User) { u.ID = "" },
		"odd id":            func(u *User) { u.ID = "a b" },
		"control character": func(u *User) { u.AvatarURL = "a\nb" },
		"invalid UTF-8":     func(u *User) { u.AvatarURL = "\xff" },
		"long avatar":       func(u *User) { u.AvatarURL = strings.Repeat("x", 2049) },
		"no language":       func(u *User) { u.DefaultLanguage = "" },
		"negative months":   func(u *User) { u.SupporterMonths = -1 },
	} {
		wrong := valid
		change(&wrong)
		if !fault.Is(wrong.Validate(), fault.Invalid) {
			t.Errorf("%s: got %v, want %v", what, wrong.Validate(), fault.Invalid)
		}
	}
}
