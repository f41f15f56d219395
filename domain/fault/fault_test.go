package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestKindAndMessage(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("outer: %w", Wrap(NotFound, "There is none.", io.EOF))
	if KindOf(wrapped) != NotFound || MessageOf(wrapped) != "There is none." || !errors.Is(wrapped, io.EOF) {
		t.Errorf("got %v, %q, want %v, %q", KindOf(wrapped), MessageOf(wrapped), NotFound, "There is none.")
	}
	if KindOf(io.EOF) != Internal || MessageOf(io.EOF) == io.EOF.Error() {
		t.Errorf("got %v, %q, want %v and another message", KindOf(io.EOF), MessageOf(io.EOF), Internal)
	}
	if New(Invalid, "x").Error() != "x" || Wrap(Invalid, "x", io.EOF).Error() != "x: EOF" {
		t.Errorf("got %q and %q, want %q and %q", New(Invalid, "x"), Wrap(Invalid, "x", io.EOF), "x", "x: EOF")
	}
}

func TestInvalidField(t *testing.T) {
	t.Parallel()
	err := InvalidField("tags", "there are more than 100.")
	if err.Kind != Invalid || err.Field != "tags" || err.Message != "there are more than 100." {
		t.Errorf("got %v, %q, %q, want %v about tags", err.Kind, err.Field, err.Message, Invalid)
	}
	const want = "tags: there are more than 100."
	if got := MessageOf(fmt.Errorf("outer: %w", err)); got != want || err.Error() != want {
		t.Errorf("got %q and %q, want %q", got, err.Error(), want)
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		err  error
		kind Kind
	}{
		"nil":                        {nil, None},
		"an error of another type":   {io.EOF, Internal},
		"an error without a kind":    {&Error{Message: "x"}, Internal},
		"a conflict":                 {New(Conflict, "x"), Conflict},
		"a conflict inside an error": {fmt.Errorf("outer: %w", New(Conflict, "x")), Conflict},
	} {
		if got := MessageOf(c.err); (got == "") != (c.err == nil) {
			t.Errorf("%s: got the message %q, want one only for an error", what, got)
		}
		if got := KindOf(c.err); got != c.kind {
			t.Errorf("%s: got the kind %v, want %v", what, got, c.kind)
		}
		for _, kind := range []Kind{None, Internal, NotFound, Conflict} {
			if got, want := Is(c.err, kind), c.err != nil && kind == c.kind; got != want {
				t.Errorf("%s: got %t for the kind %v, want %t", what, got, kind, want)
			}
		}
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	missing := New(NotFound, "There is none.")
	if got := Replace(fmt.Errorf("outer: %w", New(NotFound, "x")), NotFound, missing); !errors.Is(got, missing) {
		t.Errorf("got %v, want %v", got, missing)
	}
	for _, err := range []error{nil, io.EOF, New(Conflict, "x")} {
		if got := Replace(err, NotFound, missing); got != err { //nolint:errorlint // the same error is wanted
			t.Errorf("got %v, want %v", got, err)
		}
	}
}
