package command

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"serve", "stats", "token", "paste", "pastes"}
	for _, c := range []struct {
		typed string
		most  int
		want  string
	}{
		{"serve", 2, "serve"},
		{"srve", 2, "serve"},           // left out
		{"serveer", 2, "serve"},        // added
		{"stets", 2, "stats"},          // replaced
		{"tokne", 1, "token"},          // swapped
		{"otkne", 2, "token"},          // twice
		{"otkne", 1, ""},               //
		{"pasts", 2, "paste"},          // two are as near: the first
		{"pastess", 2, "pastes"},       // the nearer of two
		{"sevred", 2, "serve"},         //
		{"user", 2, ""},                // three away from all
		{"", 2, ""},                    //
		{"nonsense", 2, ""},            //
		{"s\xffrve", 2, "serve"},       // whatever the bytes are
		{"abcdefghijkl", 100, "serve"}, //
	} {
		got, ok := Nearest(c.typed, known, c.most)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q within %d: got %q, %v, want %q", c.typed, c.most, got, ok, c.want)
		}
	}
}

func FuzzDistance(f *testing.F) {
	f.Add("serve", "sevre")
	f.Add("", "ab")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 100 || len(b) > 100 {
			return
		}
		there, back := distance(a, b, 100), distance(b, a, 100)
		least, most := max(len(a)-len(b), len(b)-len(a)), max(len(a), len(b))
		if there != back || there < least || there > most || (there == 0) != (a == b) {
			t.Errorf("%q and %q: got %d one way and %d the other, want the same, from %d to %d", a, b, there, back, least, most)
		}
	})
}
