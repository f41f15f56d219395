package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestSignIn signs in by keyboard and without a script, reads the list and a private paste, and signs out.
func TestSignIn(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	tab := open(t, "http://"+program.Serve(t, cfg.URL).Address)
	tab.withoutScript()
	wantPath := func(want string) {
		t.Helper()
		if got := evaluate[string](tab, "location.pathname + location.search"); got != want {
			t.Errorf("got the page %s, want %s", got, want)
		}
	}
	typeToken := func(text, there string) {
		t.Helper()
		tab.do(chromedp.SendKeys(chromedp.CSS("#token"), text+"\r"), chromedp.WaitVisible(chromedp.CSS(there)))
	}
	tab.show("/pastes")
	wantPath("/sign-in?next=%2Fpastes")
	tab.picture("light")
	typeToken("made up", "#problem")
	if !tab.expect("401") {
		t.Error("got no 401 of a token that was made up, want one")
	}
	tab.picture("wrong")
	tab.prefer("dark")
	tab.phone()
	tab.wantFit()
	tab.picture("dark-phone")
	typeToken(program.EpoxyToken, ".pastes")
	wantPath("/pastes")
	if listed := evaluate[int](tab, "document.querySelectorAll('.pastes li').length"); listed != 4 {
		t.Errorf("got %d pastes, want the four of the token's owner", listed)
	}
	tab.wantFit()
	tab.picture("list-dark-phone")
	tab.do(chromedp.EmulateViewport(tabWidth, tabHeight))
	tab.prefer("light")
	tab.picture("list")
	for _, cookie := range command(tab, network.GetCookies, network.GetCookiesParams{}).Cookies {
		if !cookie.HTTPOnly || cookie.SameSite != network.CookieSameSiteLax ||
			strings.Contains(cookie.Value, program.EpoxyToken) {
			t.Errorf("got the cookie %+v, want one that no script and no other site can use", cookie)
		}
	}
	if visible := evaluate[string](tab, "document.cookie"); visible != "" {
		t.Errorf("got the cookie %s in reach of scripts, want none", visible)
	}
	tab.do(tab.click(".top form button"), chromedp.WaitVisible(chromedp.CSS(".top nav a[href^='/sign-in']")))
	wantPath("/")
	if cookies := command(tab, network.GetCookies, network.GetCookiesParams{}).Cookies; len(cookies) != 0 {
		t.Errorf("got %d cookies, want none after signing out", len(cookies))
	}
	tab.show("/pastes")
	wantPath("/sign-in?next=%2Fpastes")
}
