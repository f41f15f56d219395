package paste

import "testing"

func TestLifetimesWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ everybody, anonymous, want, wantAnonymous Lifetimes }{
		{Lifetimes{}, Lifetimes{}, Lifetimes{Never, Never}, Lifetimes{Never, Never}},
		{Lifetimes{"", "1y"}, Lifetimes{}, Lifetimes{"1y", "1y"}, Lifetimes{"1y", "1y"}},
		{Lifetimes{"1d", ""}, Lifetimes{"", "1m"}, Lifetimes{"1d", Never}, Lifetimes{"1d", "1m"}},
		{Lifetimes{"1m", ""}, Lifetimes{"", "1d"}, Lifetimes{"1m", Never}, Lifetimes{"1d", "1d"}},
		{Lifetimes{"1d", "1y"}, Lifetimes{"1w", ""}, Lifetimes{"1d", "1y"}, Lifetimes{"1w", "1y"}},
		{Lifetimes{"1y", "1y"}, Lifetimes{"1h", "1m"}, Lifetimes{"1y", "1y"}, Lifetimes{"1h", "1m"}},
	} {
		everybody, err := c.everybody.Within(Lifetimes{})
		if err != nil || everybody != c.want {
			t.Errorf("%v: got %v, %v, want %v", c.everybody, everybody, err, c.want)
		}
		if anonymous, err := c.anonymous.Within(everybody); err != nil || anonymous != c.wantAnonymous {
			t.Errorf("%v within %v: got %v, %v, want %v", c.anonymous, everybody, anonymous, err, c.wantAnonymous)
		}
	}
	for _, wrong := range []Lifetimes{{"3d", ""}, {"", "1M"}, {"1y", "1w"}, {Never, "1y"}, {"", "1y"}, {"1y", ""},
		{"", Never}} {
		if got, err := wrong.Within(Lifetimes{Longest: "1m"}); err == nil {
			t.Errorf("%v: got %v, want an error", wrong, got)
		}
	}
}

func TestLifetimesBound(t *testing.T) {
	t.Parallel()
	bounds := Lifetimes{Default: "1d", Longest: "1m"}
	for lifetime, want := range map[string]string{"1h": "1h", "1m": "1m", "1y": "1m", "never": "1m",
		"soon": "soon", "": ""} {
		if got := bounds.Bound(&lifetime); *got != want {
			t.Errorf("%q: got %q, want %q", lifetime, *got, want)
		}
	}
	if got := bounds.Bound(nil); *got != "1d" {
		t.Errorf("none: got %q, want 1d", *got)
	}
	never := "never"
	if got := (Lifetimes{}).Bound(&never); *got != never {
		t.Errorf("without bounds: got %q, want never", *got)
	}
	if got := (Lifetimes{}).Bound(nil); got != nil {
		t.Errorf("without bounds: got %q, want none", *got)
	}
}
