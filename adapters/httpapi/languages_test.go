package httpapi

import (
	"net/http"
	"testing"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	const want = `{"name":"Go","mode":"go","mimes":["text/x-go"],"ext":["go"],"color":"#00add8"}`
	for _, name := range []string{"Go", "golang"} {
		answer := request(api, http.MethodGet, "/data/language?name="+name, nil)
		etag := answer.Header().Get("Etag")
		if answer.Code != http.StatusOK || answer.Body.String() != want || etag == "" {
			t.Errorf("%s: got %d %s, ETag %q, want 200 %s and an ETag", name, answer.Code, answer.Body, etag, want)
		}
		again := request(api, http.MethodGet, "/data/language?name="+name, http.Header{"If-None-Match": {etag}})
		if again.Code != http.StatusNotModified {
			t.Errorf("%s again: got %d, want 304", name, again.Code)
		}
	}
}
