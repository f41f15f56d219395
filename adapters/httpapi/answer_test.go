package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestLongAnswers(t *testing.T) {
	t.Parallel()
	// The use case reads 20,000 at once.
	for _, ids := range []int{0, 1, 19_999, 20_000, 20_001, 1000, 500_000} {
		s := newStore()
		s.ids = ids
		api, _ := newTestAPI(t, s, DefaultConfig())
		authorization := http.Header{"Authorization": {s.secret.Reveal()}}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			answer := request(api, method, "/user/self/pastes", authorization)
			if answer.Code != http.StatusOK || method == http.MethodGet && answer.Body.String() != s.list() {
				t.Errorf("%s of %d ids: got %d and %d bytes, want 200 and %d", method, ids, answer.Code, answer.Body.Len(),
					len(s.list()))
			}
			length := strconv.Itoa(len(s.list()))
			if got := answer.Header().Get("Content-Length"); got != length && ids >= 1000 {
				t.Errorf("%s of %d ids: got the length %q, want %s", method, ids, got, length)
			}
		}

		// Part of a list is not sent if the rest fails.
		s.failure = fault.New(fault.Unavailable, "away")
		answer := request(api, http.MethodGet, "/user/self/pastes", authorization)
		if answer.Code != http.StatusServiceUnavailable || !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%d ids and a failure: got %d %.100s, want 503 and nothing of the list", ids, answer.Code, answer.Body)
		}
		s.failure = errors.New("x")
		if answer = request(api, http.MethodHead, "/user/self/pastes",
			authorization); answer.Code != http.StatusInternalServerError {
			t.Errorf("HEAD and a failure: got %d, want 500", answer.Code)
		}
		wantAllMemory(t, api)
	}
}

func TestMatchesETag(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		`"a"`: true, `W/"a"`: true, `*`: true, `"b", "a"`: true, ` "a" `: true, `"b"`: false, ``: false,
		`a`: false, `"a`: false,
	} {
		if matchesETag([]string{header}, `"a"`) != want {
			t.Errorf("%q: got %v, want %v", header, !want, want)
		}
	}
}

func TestETagOf(t *testing.T) {
	t.Parallel()
	if got, want := etagOf(0x0123456789abcdef)[0], `"ASNFZ4mrze8"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
