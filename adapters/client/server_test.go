package client

import "testing"

func TestParseServer(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://paste.example":             "https://paste.example",
		"https://Paste.Example:443/":        "https://paste.example",
		"http://paste.example:80/base/":     "http://paste.example/base",
		"https://paste.example:":            "https://paste.example",
		"https://paste.example:80":          "https://paste.example:80",
		"http://[::443]":                    "http://[::443]",
		"http://[fe80::1%25eth0]:80":        "http://[fe80::1%25eth0]",
		"http://[2001:db8::1]:80":           "http://[2001:db8::1]",
		"ftp://paste.example":               "",
		"https://user:secret@paste.example": "",
		"https://paste.example?x":           "",
		"https://:443":                      "",
	} {
		s, err := parseServer(address)
		if err == nil && s.String() != want || err != nil && want != "" {
			t.Errorf("%s: got %v, error %v, want %q", address, s, err, want)
		}
	}
}

func TestLinkWithZone(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv(EnvServer, "")
	s, id, err := new(Commands).find("", "http://[fe80::1%25eth0]:8080/base/paste/abcdefgh")
	if err != nil || s.String() != "http://[fe80::1%25eth0]:8080/base" || id != "abcdefgh" {
		t.Errorf("got %v, %s, error %v, want the server and the id of the link", s, id, err)
	}
}
