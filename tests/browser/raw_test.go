package browser

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestTextIsNoPage opens code that would be a page with a script if it were not served as text.
func TestTextIsNoPage(t *testing.T) {
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
	defer response.Body.Close() //nolint:errcheck // it has been read
	var created struct {
		ID      string `json:"_id"`
		Pasties []struct {
			ID string `json:"_id"`
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&created); err != nil || len(created.Pasties) != 1 {
		t.Fatalf("got %s, %v, %v, want a paste with one pasty", response.Status, created, err)
	}
	tab := open(t, origin)
	tab.prefer("dark")
	tab.show("/raw/" + created.ID + "/" + created.Pasties[0].ID)
	if title, text := evaluate[string](tab, "document.title"),
		evaluate[string](tab, "document.body.innerText"); title != "" || text != code {
		t.Errorf("got the title %q and the text %q, want no title and the code", title, text)
	}
	tab.picture("dark")
}
