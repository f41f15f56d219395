// Package e2e talks to the real program over TCP, and compares its answers with golden files.
package e2e

import (
	"net/http"

	"github.com/gluepot/gluepot/tests/program"
)

// request is a request, sent byte for byte. A header that begins with a line end is the body.
type request struct {
	method  string
	target  string
	headers []string
	name    string // of the paste that it creates
}

func get(target string, headers ...string) request { return with(http.MethodGet, target, headers...) }

func with(method, target string, headers ...string) request {
	return request{method: method, target: target, headers: headers}
}

func authorization(value string) string { return "Authorization: " + value }

// decision is a row of a decision table.
type decision struct {
	row      string
	requests []request
}

// decisions has a row for each decision about the endpoints of users, languages and the count.
var decisions = []decision{
	{"the seven endpoints", []request{
		get("/user/Epoxy/exists"),
		get("/user/Epoxy"),
		get("/user/self", authorization(program.EpoxyToken)),
		get("/user/self/pastes", authorization(program.EpoxyToken)),
		get("/data/language?name=Rust"),
		get("/data/languageExt?extension=rs"),
		get("/data/numPastes"),
	}},
	{"Authorization format", []request{
		get("/user/self/pastes", authorization("Bearer "+program.EpoxyToken)),
		get("/user/self/pastes", authorization("Token "+program.EpoxyToken)),
		get("/user/self/pastes", authorization("bEARER   "+program.EpoxyToken+"  ")),
		get("/user/self/pastes", authorization("tOKEN "+program.EpoxyToken)),
		get("/user/self/pastes", authorization(" \t"+program.EpoxyToken+"\t ")),
		get("/user/self", authorization(program.MortarToken)),
	}},
	{"header present but empty", []request{
		get("/user/self", authorization("")),
		get("/user/self", authorization("   ")),
		get("/user/self/pastes", authorization("Bearer ")),
	}},
	{"header on endpoints 1, 2, 5, 6, 7", []request{
		get("/user/epoxy/exists", authorization("Bearer "+program.RevokedToken)),
		get("/user/epoxy", authorization("nonsense")),
		get("/user/mortar", authorization(program.MortarToken)),
		get("/data/language?name=Rust", authorization("nonsense")),
		get("/data/languageExt?extension=rs", authorization("")),
		get("/data/numPastes", authorization("Basic bm9ib2R5Om5vYm9keQ==")),
	}},
	{"missing, unknown, expired or revoked token", []request{
		get("/user/self"),
		get("/user/self", authorization("unknown")),
		get("/user/self", authorization(program.ExpiredToken)),
		get("/user/self", authorization(program.RevokedToken)),
		get("/user/self", authorization("Bearer "+program.RevokedToken)),
		get("/user/self/pastes"),
		get("/user/self/pastes", authorization("unknown")),
		get("/user/self/pastes", authorization(program.ExpiredToken)),
		get("/user/self/pastes", authorization(program.RevokedToken)),
		get("/user/self", authorization("caf\xe9")),
	}},
	{"user without a public profile", []request{
		get("/user/mortar"),
		get("/user/MORTAR"),
		get("/user/nobody"),
		get("/user/mortar/exists"),
	}},
	{"error body", []request{
		get("/user/nobody"),
		get("/user/nobody", "Accept: application/problem+json"),
		get("/user/nobody", "Accept: application/json, application/problem+json"),
		get("/user/nobody", "Accept: application/json, application/problem+json;q=0.5"),
		get("/user/nobody", "Accept: application/problem+json;q=0"),
		get("/user/nobody", "Accept: */*"),
	}},
	{"exists, user absent", []request{
		get("/user/nobody/exists"),
	}},
	{"username comparison", []request{
		get("/user/ePOXY"),
		get("/user/EPOXY/exists"),
		get("/user/epox/exists"),
		get("/user/epoxyy/exists"),
		get("/user/poxy/exists"),
		get("/user/ep_xy.A-B"),
		get("/user/ep%6Fxy/exists"),
		get("/user/epo%25/exists"),
		get("/user/e____/exists"),
	}},
	{"username rules", []request{
		get("/user/-epoxy/exists"),
		get("/user/epoxy./exists"),
		get("/user/ep%20oxy/exists"),
		get("/user/ep%00oxy"),
		get("/user/%ff%fe"),
		get("/user/%E2%80%AEepoxy"),
		get("/user/SELF", authorization(program.EpoxyToken)),
		get("/user/self/exists", authorization(program.EpoxyToken)),
		get("/user//exists"),
		get("/user/'%20OR%20'1'='1"),
		get("/user/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
	}},
	{"trailing slash on any endpoint", []request{
		get("/user/Epoxy/exists/"),
		get("/user/Epoxy/"),
		get("/user/self/", authorization(program.EpoxyToken)),
		get("/user/self/pastes/", authorization(program.EpoxyToken)),
		get("/data/language/?name=Rust"),
		get("/data/languageExt/?extension=rs"),
		get("/data/numPastes/"),
	}},
	{"HEAD", []request{
		with(http.MethodHead, "/user/Epoxy/exists"),
		with(http.MethodHead, "/user/Epoxy"),
		with(http.MethodHead, "/user/self", authorization(program.EpoxyToken)),
		with(http.MethodHead, "/user/self/pastes", authorization(program.EpoxyToken)),
		with(http.MethodHead, "/data/language?name=Rust"),
		with(http.MethodHead, "/data/languageExt?extension=rs"),
		with(http.MethodHead, "/data/numPastes"),
		with(http.MethodHead, "/user/nobody"),
	}},
	{"other methods", []request{
		with(http.MethodPost, "/user/Epoxy"),
		with(http.MethodDelete, "/user/self", authorization(program.EpoxyToken)),
		with(http.MethodPut, "/data/numPastes/"),
		with(http.MethodOptions, "/data/language"),
		with("BREW", "/user/self/pastes"),
		get("/data"),
		get("/user"),
		get("/data/languages"),
		with(http.MethodPost, "/nowhere"),
		with(http.MethodOptions, "*"),
	}},
	{"`%2F` separates nothing", []request{
		get("/user%2Fepoxy"),
		get("/user/self%2fpastes", authorization(program.EpoxyToken)),
		get("/user/epoxy%2F"),
	}},
	{"missing or empty name / extension", []request{
		get("/data/language"),
		get("/data/language?name="),
		get("/data/language?name"),
		get("/data/language?extension=rs"),
		get("/data/languageExt"),
		get("/data/languageExt?extension="),
		get("/data/languageExt?name=Rust"),
	}},
	{"language by name", []request{
		get("/data/language?name=rUST"),
		get("/data/language?name=cpp"),
		get("/data/language?name=JS"),
		get("/data/language?name=golang"),
		get("/data/language?name=no-such-language"),
	}},
	{"`name=C++` sent unencoded", []request{
		get("/data/language?name=C++"),
		get("/data/language?name=C%2B%2B"),
		get("/data/language?name=C%252B%252B"),
		get("/data/language?name=%u6F22"),
		get("/data/language?name=%u0052ust"),
		get("/data/language?name=100%"),
		get("/data/language?a=%zz;b&name=Rust"),
	}},
	{"language by extension", []request{
		get("/data/languageExt?extension=.rs"),
		get("/data/languageExt?extension=..rs"),
		get("/data/languageExt?extension=RS"),
		get("/data/languageExt?extension=."),
		get("/data/languageExt?extension=no-such-extension"),
		get("/data/languageExt?extension=c++"),
	}},
	{"an extension that several languages claim", []request{
		get("/data/languageExt?extension=md"),
		get("/data/languageExt?extension=ts"),
		get("/data/languageExt?extension=h"),
		get("/data/languageExt?extension=m"),
		get("/data/languageExt?extension=sql"),
		get("/data/languageExt?extension=txt"),
	}},
	{"optional ext", []request{
		get("/data/language?name=Asterisk"),
	}},
	{"optional color", []request{
		get("/data/language?name=Autodetect"),
		get("/data/language?name=Go"),
	}},
	{"fields beyond those above; null", []request{
		get("/user/putty"),
		get("/user/self", authorization(program.MortarToken)),
		get("/user/self/pastes", authorization(program.MortarToken)),
	}},
	{"GET with a body, `Content-Type` on GET, `Upgrade: h2c`", []request{
		get("/user/putty/exists", "Content-Type: application/json", "\n{\"a\":1}"),
		get("/user/putty/exists", "Content-Type: nonsense"),
		get("/user/putty/exists", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"),
	}},
	{"caching", []request{
		get("/data/language?name=Rust", "If-None-Match: *"),
		get("/data/languageExt?extension=rs", "If-None-Match: \"other\", W/\"also other\""),
		get("/data/languageExt?extension=rs", "If-None-Match: *"),
		get("/user/self", authorization(program.EpoxyToken), "If-None-Match: *"),
		get("/user/putty"),
	}},
	{"outside the base path", []request{
		get("/healthz"),
		get("/readyz"),
		with(http.MethodHead, "/readyz"),
	}}, {"pages", []request{
		get("/", fromBrowser),
		with(http.MethodHead, "/", fromBrowser),
		get("/", "Accept: */*"),
		get("/", "Accept: application/json, text/html;q=0.9"),
		with(http.MethodPost, "/", fromBrowser),
		get("/nowhere", fromBrowser),
		get("/docs", fromBrowser),
		with(http.MethodHead, "/docs/"),
		get("/docs", "If-None-Match: *"),
		with(http.MethodPost, "/docs"),
		get("/docs/docs.js"),
		get("/docs/docs.css", "If-None-Match: *"),
		with(http.MethodHead, "/docs/swagger-ui-bundle.js", "Accept-Encoding: gzip, deflate, br"),
		with(http.MethodHead, "/docs/swagger-ui-bundle.js"),
		get("/docs/swagger-ui.css", "Accept-Encoding: gzip", "If-None-Match: *"),
		get("/docs/nothing.js"),
	}},
}

const fromBrowser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
