package browser

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// pasty is one of a paste to create.
type pasty struct {
	Title    string `json:"title"`
	Language string `json:"language,omitempty"`
	Code     string `json:"code"`
}

// create stores an anonymous paste at an origin and returns its id.
func create(t *testing.T, origin, title string, pasties ...pasty) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"title": title, "pasties": pasties, "expiresIn": "1w"})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(origin+"/paste", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	var made struct {
		ID string `json:"_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&made); err != nil || made.ID == "" {
		t.Fatalf("got %s, %v, want a paste", response.Status, err)
	}
	return made.ID
}

// phone makes the tab as narrow as a phone.
func (tab *tab) phone() {
	tab.t.Helper()
	tab.do(chromedp.EmulateViewport(375, 800))
}

// wantNoSideScroll fails the test when the page as a whole is wider than the window.
func (tab *tab) wantNoSideScroll() {
	tab.t.Helper()
	if wide := evaluate[float64](tab, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
		tab.t.Errorf("got a page that is %v pixels wider than the window, want none", wide)
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	origin := serveDemonstration(t)
	tab := open(t, origin)
	tab.show("/demo-epoxy-1")
	if title := evaluate[string](tab, "document.title"); title != "A server in ten lines · Gluepot" {
		t.Errorf("got the title %q, want that of the paste", title)
	}
	if n := evaluate[int](tab, "document.querySelectorAll('.k').length"); n == 0 {
		t.Error("got no keywords, want the code highlighted")
	}
	tab.wantNoSideScroll()
	tab.wholePicture("light")
	tab.prefer("dark")
	tab.wholePicture("dark")
	tab.phone()
	tab.wantNoSideScroll()
	tab.wholePicture("dark-phone")
	tab.prefer("light")
	tab.wholePicture("phone")
}
