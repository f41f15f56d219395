package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestSignIn signs in with a token and without JavaScript, checks the list of pastes and the cookies, and signs out.
func TestSignIn(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	tab := open(t, "http://"+program.Serve(t, cfg.URL).Address)
	tab.disableScript()
	wantPath := func(want string) {
		t.Helper()
		if got := evaluate[string](tab, "location.pathname + location.search"); got != want {
			t.Errorf("got the page %s, want %s", got, want)
		}
	}
	typeToken := func(token, result string) {
		t.Helper()
		tab.do(chromedp.SendKeys(chromedp.CSS("#token"), token+"\r"), chromedp.WaitVisible(chromedp.CSS(result)))
	}
	tab.show("/pastes")
	wantPath("/sign-in?next=%2Fpastes")
	tab.screenshot("light")
	typeToken("made up", "#problem")
	if !tab.expect("401") {
		t.Error("got no status 401, want it for the unknown token")
	}
	tab.screenshot("wrong")
	tab.setColourScheme("dark")
	tab.useNarrowWindow()
	tab.wantFit()
	tab.screenshot("dark-phone")
	typeToken(program.EpoxyToken, ".pastes")
	wantPath("/pastes")
	if n := evaluate[int](tab, "document.querySelectorAll('.pastes li').length"); n != 4 {
		t.Errorf("got %d pastes in the list, want the 4 of the token's owner", n)
	}
	tab.wantFit()
	tab.screenshot("list-dark-phone")
	tab.do(chromedp.EmulateViewport(tabWidth, tabHeight))
	tab.setColourScheme("light")
	tab.screenshot("list")
	for _, cookie := range command(tab, network.GetCookies, network.GetCookiesParams{}).Cookies {
		if !cookie.HTTPOnly || cookie.SameSite != network.CookieSameSiteLax ||
			strings.Contains(cookie.Value, program.EpoxyToken) {
			t.Errorf("got the cookie %+v, want it HttpOnly, with SameSite=Lax, and without the token", cookie)
		}
	}
	if cookies := evaluate[string](tab, "document.cookie"); cookies != "" {
		t.Errorf("got document.cookie %s, want it empty: scripts must not read cookies", cookies)
	}
	tab.do(tab.click(".top form button"), chromedp.WaitVisible(chromedp.CSS(".top nav a[href^='/sign-in']")))
	wantPath("/")
	if cookies := command(tab, network.GetCookies, network.GetCookiesParams{}).Cookies; len(cookies) != 0 {
		t.Errorf("got %d cookies after signing out, want 0", len(cookies))
	}
	tab.show("/pastes")
	wantPath("/sign-in?next=%2Fpastes")
}
