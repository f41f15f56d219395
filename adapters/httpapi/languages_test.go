package httpapi

import (
	"net/http"
	"testing"
)

// The store of these tests returns copies, of which the interface has never seen some.
func TestLanguageCopies(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	etags := map[string]bool{}
	for name, want := range map[string]string{
		"Go":     `{"name":"Go","mode":"go","mimes":["text/x-go"],"ext":["go"],"color":"#00add8"}`,
		"golang": `{"name":"Go","mode":"go","mimes":["text/x-go"],"ext":["go","gox"],"color":"#00add8"}`,
		"Gone":   `{"name":"Gone","mode":"null","mimes":[],"ext":[]}`,
	} {
		answer := request(api, http.MethodGet, "/data/language?name="+name, nil)
		etag := answer.Header().Get("Etag")
		if answer.Code != http.StatusOK || answer.Body.String() != want || etag == "" || etags[etag] {
			t.Errorf("%s: got %d %s, ETag %q, want 200 %s and an ETag of its own", name, answer.Code, answer.Body, etag, want)
		}
		etags[etag] = true
		again := request(api, http.MethodGet, "/data/language?name="+name, http.Header{"If-None-Match": {etag}})
		if again.Code != http.StatusNotModified {
			t.Errorf("%s again: got %d, want 304", name, again.Code)
		}
	}
}
