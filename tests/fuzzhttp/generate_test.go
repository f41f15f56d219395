package fuzzhttp

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/tests/program"
)

// generator generates scripts. The same seed and index give the same script.
type generator struct {
	*rand.Rand
	index int
	site  *site
	plant int // number of canaries so far
}

func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

// in reports true once in n times.
func (g *generator) in(n int) bool { return g.IntN(n) == 0 }

// canary returns a text that is recognised wherever it appears, and that identifies the script.
func (g *generator) canary() string {
	g.plant++
	return fmt.Sprintf("%s-%d-%d", canary, g.index, g.plant)
}

func generate(seed uint64, index int, sites []*site) *script {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(index))
	g := &generator{Rand: rand.New(rand.NewChaCha8(key)), index: index}
	s := &script{index: index, site: g.IntN(len(sites)), clean: g.in(2)}
	g.site = sites[s.site]
	for range g.length(s.clean) {
		switch {
		case s.clean && g.in(12):
			s.twins = append(s.twins, len(s.requests))
			public, private := g.twins()
			s.requests = append(s.requests, private, public)
		case s.clean || g.in(2):
			s.requests = append(s.requests, g.valid())
		default: // ends most connections
			s.requests = append(s.requests, g.hostile())
		}
	}
	s.delivery = pipelined
	switch {
	case g.in(5000):
		s.delivery = held
	case g.in(20):
		s.delivery = reset
	case g.in(5):
		s.delivery = split
	case s.clean && g.in(2):
		s.delivery = lockstep
	}
	if size := len(s.bytes()); s.delivery == split || s.delivery == reset {
		for range 1 + g.IntN(4) {
			s.cuts = append(s.cuts, g.IntN(size+1))
		}
		slices.Sort(s.cuts)
	}
	return s
}

// length returns the number of requests of a script. Most are short, some are long.
func (g *generator) length(clean bool) int {
	switch {
	case clean && g.in(15):
		return 20 + g.IntN(30)
	case clean:
		return 1 + g.IntN(10)
	}
	return 1 + g.IntN(4)
}

// request is a request in parts.
type request struct {
	method, target, proto string
	headers               []string
	body                  string
}

func (r *request) bytes() []byte {
	var b strings.Builder
	b.WriteString(r.method + " " + r.target + " " + r.proto + "\r\n")
	for _, h := range r.headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n" + r.body)
	return []byte(b.String())
}

// valid returns a request that a client might send.
func (g *generator) valid() []byte { return g.validRequest().bytes() }

func (g *generator) validRequest() *request {
	r := &request{method: "GET", target: g.target(g.validPath()), proto: "HTTP/1.1",
		headers: []string{"Host: gluepot.test"}}
	if g.in(6) {
		r.method = "HEAD"
	}
	if g.in(8) {
		r.method = pick(g, "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "get", "M-SEARCH")
	}
	if strings.HasPrefix(r.target, g.site.base+route[self]) && !g.in(4) {
		r.headers = append(r.headers, "Authorization: "+g.goodAuthorization())
	}
	writes := g.writes(r)
	for range g.IntN(4) {
		if h := g.validHeader(); !slices.ContainsFunc(r.headers, func(header string) bool {
			return strings.HasPrefix(header, h[:strings.IndexByte(h,
				':')+1])
		}) {
			r.headers = append(r.headers, h)
		}
	}
	if g.site.trusting && g.in(2) {
		r.headers = append(r.headers, g.proxyID())
	}
	if writes || g.in(12) {
		body := strings.Repeat("body ", g.IntN(50)) + g.canary()
		if writes && !g.in(4) {
			body = g.document()
		}
		if body == "" || g.in(2) {
			r.headers, r.body = append(r.headers, fmt.Sprintf("Content-Length: %d", len(body))), body
		} else {
			r.headers, r.body = append(r.headers, "Transfer-Encoding: chunked"),
				fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		}
	}
	return r
}

// writes turns most requests for pastes into requests with a body, and reports whether it has.
func (g *generator) writes(r *request) bool {
	path, _, _ := strings.Cut(strings.TrimPrefix(r.target, g.site.base), "?")
	path = strings.TrimSuffix(path, "/")
	switch {
	case g.in(6):
		return false
	case path == route[create] || path == route[createText]:
		if r.method = "POST"; path == route[createText] {
			r.method = pick(g, "POST", "PUT")
		}
	case strings.HasPrefix(path, "/raw/") && g.in(2), strings.Count(r.target, "/") == 1 && g.in(4):
		r.method = "PUT"
	case strings.HasPrefix(path, "/paste/") && g.in(2):
		if r.method = pick(g, "PATCH", "PATCH", "DELETE"); g.in(2) {
			r.headers = append(r.headers, "Authorization: "+g.goodAuthorization())
		}
	default:
		return false
	}
	return true
}

// document returns the body of a request that creates or edits a paste.
func (g *generator) document() string {
	return pick(g, `{"pasties":[{"code":"`+g.canary()+`"}]}`,
		`{"title":"`+g.canary()+`","pasties":[{"title":"a.go","code":"x\r\n\u0000"}]}`,
		`{"expiresIn":"1h","tags":"a,b","pasties":[{"code":"x"}]}`, `{"isPrivate":true,"tags":[],"pasties":[{"code":"x"}]}`,
		`{}`, `[]`, "",
		"\ufeff{}", `{"pasties":5}`, `{"pasties":[{"code":"\ud800"}]} `, "{\"pasties\":[{\"code\":\"\xff\"}]}",
		`{"pasties":[{"code":"x"}]}}`,
		`{"encrypted":true}`, `{"x":`+strings.Repeat("[", g.IntN(2000))+`}`,
		`{"pasties":[`+strings.Repeat(`{"code":"x"},`, g.IntN(1200))+`{"code":"x"}]}`)
}

// twins returns two requests that differ only in the user: an unknown one, and one with a private profile.
func (g *generator) twins() (unknownUser, privateUser []byte) {
	r := g.validRequest()
	slash := pick(g, "", "/")
	with := func(name string) []byte {
		r.target = g.site.base + "/user/" + name + slash
		return r.bytes()
	}
	r.headers = slices.DeleteFunc(r.headers, func(h string) bool { return strings.HasPrefix(h, "X-Request-Id") })
	return with("nobody"), with(private)
}

// proxyID returns an id that differs each time, even if some of its bytes are mutated.
func (g *generator) proxyID() string {
	return fmt.Sprintf("X-Request-Id: proxy-%d-%016x", g.index, g.Uint64())
}

func (g *generator) username() string {
	return pick(g, "Epoxy", "epoxy", "EPOXY", "putty", "mortar", "ep_xy.a-b", "epox%79", "nobody", "Mortar",
		"self", g.canary())
}

func (g *generator) validPath() string {
	slash := pick(g, "", "", "/")
	switch g.IntN(14) {
	case 10:
		return route[create] + slash
	case 11:
		return "/paste/" + pick(g, "nobodys1", "nobodys1", "nothing1", "expired1", "NOBODYS1", g.canary(), "%ff", "") + slash
	case 12:
		return pick(g, route[createText]+slash, route[createText]+"?title=a.go&expiresIn=1d",
			route[createText]+"?language=c++&isPublic="+g.canary(), "/raw/nobodys1/nothing1",
			"/raw/"+g.canary()+"/"+g.canary()+slash, "/raw/nobodys1"+slash, "/raw/"+g.canary()+slash)
	case 13:
		return route[expiryTime] + slash + "?" + pick(g, expiryQueries...)
	case 0, 1:
		return "/user/" + g.username() + "/exists" + slash
	case 2, 3:
		return "/user/" + g.username() + slash
	case 4:
		return route[self] + slash
	case 5:
		return route[ownPastes] + slash
	case 6:
		return route[byName] + slash + "?" + g.languageQuery(byName)
	case 7:
		return route[byExtension] + slash + "?" + g.languageQuery(byExtension)
	case 8:
		return route[count] + slash
	default:
		return pick(g, "/nothing/", "/", "/user/epoxy/pastes/", "/data/") + g.canary()
	}
}

// languageQueries are the queries of the model in a fixed order, so that a seed always chooses the same.
var languageQueries = map[endpoint][]string{
	byName: sortedKeys(languages[byName]), byExtension: sortedKeys(languages[byExtension]),
}

var expiryQueries = sortedKeys(expiries)

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (g *generator) languageQuery(e endpoint) string {
	query := pick(g, languageQueries[e]...)
	if g.in(3) {
		query += "&x=" + g.canary()
	}
	return query
}

// target puts a path below the base path or outside it, and may add a query.
func (g *generator) target(path string) string {
	if !g.in(15) {
		path = g.site.base + path
	}
	switch {
	case g.in(20):
		path = pick(g, "/healthz", "/readyz", "/healthz/", "/readyz/")
	case g.in(10) && !strings.Contains(path, "?"):
		path += "?token=" + g.canary()
	}
	return path
}

func (g *generator) goodAuthorization() string {
	return pick(g, "", "", "Bearer ", "Token ", "bEARER   ", "tOKEN ", "\t") + pick(g, program.EpoxyToken,
		program.EpoxyToken,
		program.MortarToken) + pick(g, "", "", " ", "\t")
}

func (g *generator) authorization() string {
	return pick(g, g.goodAuthorization(), g.goodAuthorization(), "", " ", "Bearer", "Bearer ", "Token",
		program.ExpiredToken,
		"Bearer "+program.RevokedToken,
		"Bearer "+g.canary(), g.canary(), "Basic "+g.canary(), "caf\xe9"+g.canary(), "Bearer\t"+program.EpoxyToken,
		"Bearer "+program.EpoxyToken+","+g.canary(),
		"Bearer "+g.long(9000), `"`+program.EpoxyToken+`"`)
}

func (g *generator) validHeader() string {
	return pick(g,
		"Accept: "+g.accept(),
		"Authorization: "+g.authorization(),
		"If-None-Match: "+g.match(),
		"If-Modified-Since: Sat, 21 Nov 2026 12:00:00 GMT",
		"User-Agent: "+g.canary(),
		"Cookie: session="+g.canary(),
		"Referer: http://example.com/"+g.canary(),
		"X-Forwarded-For: "+pick(g, "192.0.2.1", "192.0.2.1, 127.0.0.1", "2001:db8::1", g.canary(), "", "256.1.1.1",
			"192.0.2.1:80"),
		"X-Real-IP: "+deceptive,
		"Forwarded: for="+deceptive,
		"X-Forwarded-Host: "+g.canary(),
		"Range: "+pick(g, "bytes=0-0", "bytes=-1", "bytes=5-1,0-"),
		"Content-Type: "+pick(g, "application/json", g.canary()),
		"Origin: https://"+g.canary(),
		"Upgrade: h2c",
		"Connection: "+pick(g, "keep-alive", "upgrade, http2-settings", g.canary()),
		"Expect: 100-continue",
		"X-HTTP-Method-Override: DELETE",
		"TE: trailers",
	)
}

func (g *generator) accept() string {
	return pick(g, "*/*", mediaJSON, mediaProblem, mediaProblem+";q=0", mediaJSON+", "+mediaProblem,
		"text/html;q=0.9, */*;q=0.1", "", ",,;;",
		"application/*",
		g.canary(), mediaProblem+"; q=NaN", mediaProblem+`; a="b,c"; q="1"`, `"unclosed`, problems[:g.IntN(len(problems))],
		commas[:g.IntN(len(commas))])
}

// match returns an If-None-Match. It does not use the server's answers, so that a seed gives the same bytes. The one
// real ETag is that of a body in the model.
func (g *generator) match() string {
	return pick(g, "*", `"x"`, `W/"x"`, "*, *", ",", `"`, `"xydBT7qBbME"`, `W/"xydBT7qBbME"`,
		`"a", "xydBT7qBbME"`, g.canary())
}

// Sources of long texts.
var (
	letters  = strings.Repeat("a", 1<<20)
	encoded  = strings.Repeat("%41", 2000)
	problems = strings.Repeat(mediaProblem+",", 300)
	commas   = strings.Repeat(",", 3000)
)

func (g *generator) long(limit int) string { return letters[:g.IntN(limit)] }

// hostile returns a request that may be anything.
func (g *generator) hostile() []byte {
	r := g.validRequest()
	if g.in(3) {
		r.target = g.hostileTarget()
	}
	if g.in(8) {
		r.method = pick(g, "", " ", "G\tET", "GET\x00", strings.ToUpper(letters[:300]), letters[:3000], "CONNECT", "PRI",
			"Get", "g\xe9t",
			g.canary(), "GET /"+g.canary())
	}
	if g.in(8) {
		r.proto = pick(g, "HTTP/1.0", "HTTP/1.0", "HTTP/1.0", "HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3", "HTTP/1.1 ",
			"http/1.1", "",
			"HTTP/1.11", "HTTP/9.9", g.canary())
	}
	if g.in(8) {
		r.headers[0] = pick(g, "Host:", "Host: a\r\nHost: b", "X: y", "Host: [::1", "Host: "+g.canary()+"/x",
			"Host: a b", "Host: \x7f",
			"Host : a", " Host: a", "Host: a@b", "HOST: a:99999")
	}
	for range g.IntN(3) {
		at := 1 + g.IntN(len(r.headers))
		r.headers = slices.Insert(r.headers, at, g.hostileHeader())
	}
	if g.in(6) {
		g.hostileBody(r)
	}
	raw := r.bytes()
	if g.in(6) {
		raw = g.mutate(raw)
	}
	return raw
}

func (g *generator) hostileTarget() string {
	name := pick(g, "", "%00", "epoxy%00", "%65poxy", "epoxy%2Fexists", "epoxy%2fexists", "a%2Fb", "..", ".", "%2e%2e",
		"epoxy..", "%ff%fe",
		"caf%C3%A9", "caf\xe9",
		"%u0065poxy", "%zz", "%", "-epoxy", "epoxy ", "epoxy%20", "epoxy+", "epoxy;x=1", ":username", "*",
		"*path", "epoxy%25",
		"epoxy%0d%0aX-Canary:%20"+g.canary(),
		"epoxy%09", "\u212apoxy", "ep\u00f6xy", "%F0%9F%98%80", strings.Repeat("a", 64), strings.Repeat("a", 65), encoded,
		letters[:40000],
		"' OR 1=1--", "%27%20OR%201=1--", "ep%5fxy.a-b", "ep%25xy.a-b", "epox_", "epoxy\\", "[epoxy]", "{epoxy}",
		"<epoxy>", "SELF", "epoxy#x",
		"\x01", g.canary())
	path := pick(g, "/user/"+name, "/user/"+name, "/user/"+name+"/", "/user/"+name+"/exists", "/user/"+name+"/exists/",
		"/user/"+name+"//",
		"//user/"+name, "/user//"+name,
		"/./user/"+name, "/user/"+name+"/../putty", "/user/self/"+name, "/user/self/pastes/"+name, "/data%2FnumPastes",
		"/%64ata/numPastes",
		"/data/numPastes//", "/data//numPastes",
		"/DATA/numPastes", "/data/numpastes", "/data/language/"+name, "/user%2Fself", "/user/self%2Fpastes",
		"/user/self%2fpastes/", "/user",
		"/user/", "/data", "/", "",
		"/%2e%2e/%2e%2e/etc/passwd", "/debug/pprof/", "/metrics", "/favicon.ico", "/user/self;"+g.canary(), "/healthz%2F",
		"/readyz/"+name,
		"\\user\\epoxy", "user/epoxy", "/user/epoxy?", "/??", "/"+g.canary()+"/"+name)
	path = g.target(path)
	value := pick(g, "", "%", "%zz", "%u6F22%u5B57", "%uD83D", "%uD83D%uDE00", "%00", "%ff", "+", "%2B", "%252B",
		"%25252B",
		"C++%23", ";",
		"a;b", "=", "==", "\xff\xfe", "..", ".", "%20Rust%20",
		g.long(20000), encoded[:3*g.IntN(2000)], strings.Repeat("+", g.IntN(500)), "%C5%BF", "%E2%84%AA", g.canary())
	switch g.IntN(16) {
	case 0:
		return "*"
	case 1:
		return pick(g, "http://gluepot.test", "HTTP://u:p@"+g.canary(), "https://[::1]:80", "ftp://x", "http://",
			"//", "mailto:") + path
	case 2:
		return pick(g, "gluepot.test:443", "localhost", "127.0.0.1:80", g.canary()+":1", ":0")
	case 3, 4, 5:
		return g.site.base + pick(g, route[byName], route[byExtension]) + pick(g, "?name=", "?extension=", "?NAME=",
			"?n%61me=", "?&&name=",
			"?name=x&name=", "?=&extension=", "?;name=", "?name[]=", "?extension=.") + value
	case 6:
		return path + "?" + strings.Repeat("a=b&", g.IntN(3000)) + g.canary()
	case 7:
		return path + "#" + g.canary()
	case 8:
		return path + pick(g, " ", "\t", "  HTTP/1.0", " "+g.canary())
	}
	return path
}

func (g *generator) hostileHeader() string {
	switch g.IntN(40) {
	case 0:
		return "X-Huge: " + letters[:80<<10+g.IntN(900<<10)]
	case 1:
		return "X-Large: " + g.long(20<<10)
	case 2:
		return strings.TrimSuffix(strings.Repeat("X-Many: "+g.canary()+"\r\n", 1+g.IntN(300)), "\r\n")
	case 3:
		return strings.TrimSuffix(strings.Repeat(shortHeader, manyLines+g.IntN(manyLines)), "\r\n")
	}
	return pick(g,
		"Authorization: "+g.authorization(),
		"Authorization: "+g.authorization()+"\r\nAuthorization: "+g.authorization(),
		"Authorization: Bearer\r\n "+program.EpoxyToken,
		"Authorization : "+program.EpoxyToken,
		"X-Folded: a\r\n\t"+g.canary(),
		" X-First: folded",
		"X-Nul: a\x00"+g.canary(),
		"X-Bell: \x07",
		"X-CR: a\rb",
		"X-LF: a\nb: c",
		"X-Latin: caf\xe9",
		"X-\xe9: y",
		"X Space: y",
		"X-No-Colon",
		": no name",
		"Accept: "+g.accept()+"\r\nAccept: "+g.accept(),
		"If-None-Match: "+strings.Repeat(g.match()+",", 1+g.IntN(200)),
		g.clientID(),
		g.clientID()+"\r\n"+g.clientID(),
		"X-Forwarded-For: "+strings.Repeat("192.0.2.9, ", g.IntN(200))+"127.0.0.1",
		"X-Real-IP: "+deceptive,
		"Content-Length: "+pick(g, "0", "5", "-1", "+5", "0x5", "5, 5", "5 5", "99999999999999999999",
			"5\r\nContent-Length: 6",
			"5\r\nContent-Length: 5", "", "1e3", g.canary()),
		"Transfer-Encoding: "+pick(g, "chunked", "gzip", "identity", "chunked, chunked", "gzip, chunked", "xchunked",
			"Chunked", " chunked",
			"chunked\r\nTransfer-Encoding: chunked", "chunked\r\nContent-Length: 5", "", g.canary()),
		"Expect: "+pick(g, "100-continue", "100-Continue", "200-ok", "", g.canary()),
		"Connection: "+pick(g, "close", "Close", "keep-alive, close", "close, "+g.canary()),
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "+g.canary(),
		"Trailer: "+g.canary(),
		"Range: bytes="+strings.Repeat("0-,", g.IntN(500)),
		"Accept-Encoding: gzip, br, "+g.canary(),
		"X-Request-Id:",
	)
}

// clientID returns an X-Request-Id of a client. If the site trusts its proxy, the id may be logged, so it has no
// canary.
func (g *generator) clientID() string {
	if g.site.trusting {
		return pick(g, g.proxyID(), "X-Request-Id: "+strings.Repeat("x", 65), "X-Request-Id: a b",
			"X-Request-Id: caf\xe9", "X-Request-Id: a/b",
			g.proxyID()+"\r\n"+g.proxyID())
	}
	return "X-Request-Id: " + pick(g, g.canary(), program.MortarToken, strings.Repeat("x", 64), "golden",
		g.canary()+" "+g.canary())
}

func (g *generator) hostileBody(r *request) {
	text := "GET /" + g.canary() + " HTTP/1.1\r\nHost: smuggled\r\n\r\n"
	length := func(n int) { r.headers = append(r.headers, fmt.Sprintf("Content-Length: %d", n)) }
	chunked := func(body string) { r.headers, r.body = append(r.headers, "Transfer-Encoding: chunked"), body }
	switch g.IntN(13) {
	case 0:
		r.body = text // another request
	case 1:
		length(len(text) + 1 + g.IntN(100))
		r.body = text
	case 2:
		length(g.IntN(len(text)))
		r.body = text
	case 3:
		length(1 << (10 * g.IntN(7))) // never sent
	case 4:
		size := 240<<10 + g.IntN(40<<10) // about as much as net/http reads and discards
		length(size)
		r.body = letters[:size]
	case 5:
		chunked("zz\r\n" + text)
	case 6:
		chunked("5\r\nabcde" + text)
	case 7:
		chunked("5;" + g.canary() + "=x\r\nabcde\r\n0\r\nX-Trailer: " + g.canary() + "\r\n\r\n")
	case 8:
		chunked("ffffffffffffffff\r\n" + text)
	case 9:
		chunked("5\nabcde\n0\n\n")
	case 10:
		chunked(strings.Repeat("1\r\na\r\n", g.IntN(400)) + "0\r\n\r\n")
	case 11:
		length(3000)
		r.body = strings.Repeat("\n", 3000)
	case 12:
		length(5)
		chunked("0\r\n\r\n")
	}
}

// mutate changes some bytes.
func (g *generator) mutate(raw []byte) []byte {
	for range 1 + g.IntN(3) {
		if len(raw) == 0 {
			break
		}
		at := g.IntN(min(len(raw), 2000))
		switch g.IntN(5) {
		case 0:
			raw[at] = byte(g.IntN(256))
		case 1:
			raw = slices.Delete(raw, at, min(len(raw), at+1+g.IntN(5)))
		case 2:
			raw = slices.Insert(raw, at, []byte(pick(g, "\r\n", "\n", "\r", "\x00", " ", ":", "\r\n\r\n", "%", "/", "\xff"))...)
		case 3:
			raw = raw[:at]
		case 4:
			end := min(len(raw), at+g.IntN(40))
			raw = slices.Insert(raw, at, raw[at:end]...)
		}
	}
	return raw
}
