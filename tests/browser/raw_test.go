package browser

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestRawIsText checks that the browser shows raw HTML as text, and does not run its script.
func TestRawIsText(t *testing.T) {
	t.Parallel()
	const code = `<!doctype html><title>taken over</title><script>document.title = "taken over"</script>`
	origin := serveDemonstration(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/raw?language=HTML",
		strings.NewReader(code))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var paste struct {
		ID      string `json:"_id"`
		Pasties []struct {
			ID string `json:"_id"`
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&paste); err != nil || len(paste.Pasties) != 1 {
		t.Fatalf("POST /raw: got %s, %+v, error %v, want a paste with one pasty", response.Status, paste, err)
	}
	tab := open(t, origin)
	tab.setColourScheme("dark")
	tab.show("/raw/" + paste.ID + "/" + paste.Pasties[0].ID)
	title, text := evaluate[string](tab, "document.title"), evaluate[string](tab, "document.body.innerText")
	if title != "" || text != code {
		t.Errorf("got the title %q and the text %q, want no title and the code %q", title, text, code)
	}
	tab.screenshot("dark")
}
