package e2e

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gluepot/gluepot/tests/program"
)

// A request gives the paste that it creates a name of small letters: <name> is the paste's id, <name.0> that of its
// first pasty, <name.edit0> that of its first edit, and <name.etag> the answer's ETag. Later requests use these names,
// and the golden file has them instead of the ids.

func (r request) as(name string) request {
	r.name = name
	return r
}

func post(body string, headers ...string) request {
	return with(http.MethodPost, "/paste", append(headers, "\n"+body)...)
}

// part returns a part of a multipart form, with its boundary.
func part(names, content string) string {
	return "--x\r\nContent-Disposition: form-data; " + names + "\r\n\r\n" + content + "\r\n"
}

// form sends parts as curl -F does.
func form(target, parts string, headers ...string) request {
	return with(http.MethodPost, target, append(headers, asForm, "\n"+parts+"--x--\r\n")...)
}

func patch(target, body string, headers ...string) request {
	return with(http.MethodPatch, target, append(headers, "\n"+body)...)
}

// edit returns a PATCH by the owner.
func edit(target, body string) request { return patch(target, body, owner) }

func encrypted(body string, headers ...string) request {
	return with(http.MethodPost, "/encrypted", append(headers, "\n"+body)...)
}

func pastyOf(fields string) string { return `{"pasties":[{` + fields + `}]}` }

func times(count int, text string) string {
	return strings.TrimSuffix(strings.Repeat(text+",", count), ",")
}

var (
	owner    = authorization(program.EpoxyToken)
	stranger = authorization(program.MortarToken)
	revoked  = authorization(program.RevokedToken)
)

const (
	simple  = `{"pasties":[{"code":"x"}]}`
	sealed  = `{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ"}`
	fromWeb = "Origin: https://example.com"
	asJSON  = "Accept: application/json"
	asForm  = "Content-Type: multipart/form-data; boundary=x"
)

// pasteDecisions has a row for each decision about pastes. The rows run in order, and see the pastes of earlier rows.
var pasteDecisions = []decision{
	{"the paste endpoints", []request{
		post(`{"title":"First","expiresIn":"1w","isPublic":true,"tags":["b","a"],`+
			`"pasties":[{"title":"main.go","code":"package main\n"},`+
			`{"title":"notes","language":"Markdown","code":"# Notes"}]}`, owner).as("first"),
		get("/paste/<first>"),
		get("/paste/<first>", owner),
		get("/raw/<first>/<first.0>"),
		with(http.MethodPost, "/raw?title=main.go&expiresIn=1d", asJSON, "\npackage main\n").as("text"),
		get("/raw/<text>/<text.0>"),
		edit("/paste/<first>", `{"title":"Second","pasties":[`+
			`{"_id":"<first.0>","code":"package main\n\nfunc main() {}\n"},{"_id":"<first.1>"}]}`),
		get("/raw/<first>/<first.0>/original"),
		get("/raw/<first>/<first.0>/0"),
		get("/raw/<first>/<first.0>/0", "If-None-Match: *"),
		get("/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=1w"),
		get("/user/self/pastes", owner),
		get("/data/numPastes"),
		with(http.MethodDelete, "/paste/<first>", owner),
		with(http.MethodDelete, "/paste/<first>", owner),
		get("/user/self/pastes", owner),
		get("/data/numPastes"),
	}},

	{"GET `/raw/{id}/{pastyId}/{editId}`", []request{
		post(`{"isPrivate":true,"pasties":[{"code":"first"}]}`, owner).as("revised"),
		get("/raw/<revised>/<revised.0>/original", owner),
		edit("/paste/<revised>", `{"pasties":[{"_id":"<revised.0>","code":"second"},{"code":"added"}]}`),
		edit("/paste/<revised>", `{"pasties":[{"_id":"<revised.0>","code":"third"},{"code":"added"}]}`),
		get("/raw/<revised>/<revised.0>/original", owner),
		get("/raw/<revised>/<revised.0>/0/", owner),
		with(http.MethodHead, "/raw/<revised>/<revised.0>/1", owner),
		get("/raw/<revised>/<revised.0>/1"),
		get("/raw/<revised>/<revised.0>/1", stranger),
		get("/raw/<revised>/<revised.0>/2", owner),
		get("/raw/<revised>/<revised.0>/00", owner),
		get("/raw/<revised>/<revised.0>/Original", owner),
		get("/raw/<revised>/unknown0/original", owner),
		get("/raw/unknown0/unknown0/original"),
		with(http.MethodPost, "/raw/<revised>/<revised.0>/1", owner),
		with(http.MethodDelete, "/paste/<revised>", owner),
	}},

	// Creating.
	{"POST `/paste/`, GET `/paste`", []request{
		with(http.MethodPost, "/paste/", "\n"+simple),
		get("/paste"),
		get("/paste/"),
		with(http.MethodHead, "/paste"),
		with(http.MethodPost, "/raw/", "\nx"),
		get("/raw"),
		get("/raw/<text>"),
		with(http.MethodPut, "/paste/<text>", "\n{}"),
		with(http.MethodPost, "/paste/<text>", "\n{}"),
		with(http.MethodPost, "/time/expiresInToUnixTime"),
	}},
	{"Content-Type absent, text/plain, form", []request{
		post(simple, "Content-Type: application/json"),
		post(simple, "Content-Type: text/plain"),
		post(simple, "Content-Type: application/x-www-form-urlencoded"),
		post(simple, "Content-Type: nonsense"),
	}},
	{"`Content-Encoding` other than identity", []request{
		post(simple, "Content-Encoding: gzip"),
		post(simple, "Content-Encoding: identity"),
		post(simple, "Content-Encoding: identity, BR"),
		patch("/paste/nothing1", `{}`, "Content-Encoding: gzip"),
		with(http.MethodPost, "/raw", "Content-Encoding: deflate", "\nx"),
		with(http.MethodPut, "/raw", "Content-Encoding: gzip", "\nx"),
		with(http.MethodPut, "/raw/a", "Content-Encoding: gzip", "\nx"),
	}},
	{"malformed JSON, trailing data, invalid UTF-8, empty body, no object, BOM", []request{
		post(`{"pasties":[{"code":"x"}`),
		post(`{"pasties":[{"code":"x"}]`),
		post(`{"pasties":[{"code":"x"},]}`),
		post(`{pasties:1}`),
		post(`{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`),
		post(simple + " \t\r\n"),
		post(simple + `{}`),
		post(simple + "x"),
		post("{\"pasties\":[{\"code\":\"caf\xe9\"}]}"),
		post("{\"caf\xe9\":1,\"pasties\":[{\"code\":\"x\"}]}"),
		post(""),
		with(http.MethodPost, "/paste"),
		with(http.MethodPost, "/paste", "Transfer-Encoding: chunked", "\n"),
		post(" "),
		post("[]"),
		post(`"x"`),
		post("null"),
		post("\xef\xbb\xbf" + simple),
		post("\xef\xbb\xbf"),
		with(http.MethodPost, "/paste", "Transfer-Encoding: chunked", "\n"+simple),
	}},
	{"body over the limit", []request{
		with(http.MethodPost, "/paste", "Content-Length: 2097153"),
		with(http.MethodPost, "/paste", "Content-Length: 9223372036854775807", revoked),
		with(http.MethodPost, "/paste", "Content-Length: 2097153", "Content-Encoding: gzip"),
		with(http.MethodPost, "/paste", "Content-Length: 2097153", "Expect: 100-continue"),
		with(http.MethodPost, "/paste", "Transfer-Encoding: chunked",
			"\n"+pastyOf(`"code":"`+strings.Repeat("x", 2<<20)+`"`)),
		with(http.MethodPost, "/paste", "Transfer-Encoding: chunked", "Content-Encoding: gzip",
			"\n"+strings.Repeat("x", 2<<20+1)),
		with(http.MethodPost, "/raw", "Content-Length: 2097153"),
		with(http.MethodPut, "/raw", "Content-Length: 2097153"),
		with(http.MethodPut, "/raw/a", "Content-Length: 2097153"),
		with(http.MethodPut, "/a", "Content-Length: 2097153"),
		with(http.MethodPatch, "/paste/<text>", "Content-Length: 2097153"),
		post(pastyOf(`"code":"` + strings.Repeat("x", 2<<20-len(pastyOf(`"code":""`))) + `"`)),
		with(http.MethodPost, "/raw", "Transfer-Encoding: chunked", "\n"+strings.Repeat("x", 2<<20)),
	}},
	{"unknown fields; null in an optional field", []request{
		post(`{"title":null,"expiresIn":null,"isPrivate":null,"isPublic":null,"tags":null,"encrypted":null,"encrypt":null,` +
			`"stars":{"a":[1,2,{}]},"TITLE":5,"Pasties":false,` +
			`"pasties":[{"title":null,"language":null,"code":"x","colour":null}]}`),
		post(`{"title":5,"title":"the last one counts","pasties":[{"code":"a","title":"t"},{"code":"b"}],` +
			`"pasties":[{"code":"c"}]}`),
		post(`{"title":"a","title":"the last one counts","pasties":[{"code":"a","title":"t"},{"code":"b"}],` +
			`"pasties":[{"code":"c"}]}`),
	}},
	{"wrong type", []request{
		post(`{"title":5,"pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":60,"pasties":[{"code":"x"}]}`),
		post(`{"isPrivate":"true","pasties":[{"code":"x"}]}`),
		post(`{"isPublic":1,"pasties":[{"code":"x"}]}`),
		post(`{"tags":5,"pasties":[{"code":"x"}]}`),
		post(`{"tags":{},"pasties":[{"code":"x"}]}`),
		post(`{"tags":["a",null],"pasties":[{"code":"x"}]}`),
		post(`{"tags":[["a"]],"pasties":[{"code":"x"}]}`),
		post(`{"encrypted":"no","pasties":[{"code":"x"}]}`),
		post(`{"encrypt":0,"pasties":[{"code":"x"}]}`),
		post(`{"pasties":{}}`),
		post(`{"pasties":"x"}`),
		post(`{"pasties":["x"]}`),
		post(`{"pasties":[{"code":"x"},null]}`),
		post(pastyOf(`"code":5`)),
		post(pastyOf(`"code":"x","title":[]`)),
		post(pastyOf(`"code":"x","language":{}`)),
	}},
	{"`title`", []request{
		post(`{"title":"` + strings.Repeat("é", 1024) + `","pasties":[{"code":"x"}]}`),
		post(`{"title":"` + strings.Repeat("é", 1025) + `","pasties":[{"code":"x"}]}`),
		post(pastyOf(`"code":"x","title":"` + strings.Repeat("é", 4096) + `"`)),
		post(pastyOf(`"code":"x","title":"` + strings.Repeat("é", 4097) + `"`)),
	}},
	{"`pasties` absent, null, `[]`, too many", []request{
		post(`{}`),
		post(`{"pasties":null}`),
		post(`{"pasties":[]}`),
		post(`{"pasties":[` + times(1000, `{"code":""}`) + `]}`),
		post(`{"pasties":[` + times(1001, `{"code":""}`) + `]}`),
		post(`{"pasties":[` + times(100_000, `{}`) + `]}`),
	}},
	{"pasty `code`", []request{
		post(pastyOf(`"title":"x"`)),
		post(pastyOf(`"code":null`)),
		post(pastyOf(`"code":""`)).as("code"),
		get("/raw/<code>/<code.0>"),
		post(pastyOf(`"code":"a\r\nb\rc\n\r\r\n"`)),
		post(pastyOf(`"code":"a\u0000b"`)).as("nul"),
		get("/raw/<nul>/<nul.0>"),
		post(pastyOf(`"code":"\ud83d \ude00 \ud83d\ude00 \u2028 <&>"`)),
	}},
	{"pasty `_id`", []request{
		post(pastyOf(`"_id":"chosen01","code":"x"`)),
		post(pastyOf(`"_id":5,"code":"x"`)),
		post(`{"_id":"chosen01","ownerId":"epoxy001","stars":9,"createdAt":1,` +
			`"deletesAt":2,"edits":[1],"pasties":[{"code":"x"}]}`),
	}},
	{"pasty `language`", []request{
		post(`{"pasties":[{"code":"x","language":"c++"},{"code":"x","language":"GOLANG"},{"code":"x","language":".RS"},` +
			`{"code":"x","language":"plaintext"},{"code":"x","language":"Docker"},{"code":"x","language":"TikiWiki"}]}`),
		post(`{"pasties":[{"title":"main.rs","code":""},{"title":"Makefile","code":"","language":"autodetect"},` +
			`{"code":"#!/bin/sh\n"},` +
			`{"code":"# vim: set ft=ruby:\n"},` +
			`{"code":"package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(1)\n}\n"},` +
			`{"code":"so it goes","language":"Autodetect"}]}`),
		post(pastyOf(`"code":"x","language":""`)),
		post(pastyOf(`"code":"x","language":"no-such-language"`)),
	}},
	{"`expiresIn`, `deletesAt`", []request{
		post(`{"expiresIn":"never","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"1h","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"2h","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"10h","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"1d","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"2d","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"1w","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"1m","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"1y","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"3h","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"","pasties":[{"code":"x"}]}`),
		post(`{"expiresIn":"OneHour","pasties":[{"code":"x"}]}`),
	}},
	{"no token, an empty header, a token that is not valid", []request{
		post(simple, authorization("")),
		post(simple, authorization("Bearer ")),
		post(simple, revoked),
		post(simple, authorization("unknown")),
		post(`{"pasties":5}`, revoked),
		post(`not JSON`, revoked),
		with(http.MethodPost, "/raw", revoked, "\nx"),
		with(http.MethodPost, "/raw", revoked),
		with(http.MethodPut, "/raw", revoked, "\nx"),
		with(http.MethodPut, "/raw/a", revoked, "\nx"),
		with(http.MethodPut, "/a", revoked, "\nx"),
		post(`not JSON`, revoked, "Content-Encoding: gzip"),
	}},
	{"`isPrivate`, `isPublic` or tags without a token", []request{
		post(`{"isPrivate":true,"pasties":[{"code":"x"}]}`),
		post(`{"isPublic":true,"pasties":[{"code":"x"}]}`),
		post(`{"tags":"a","pasties":[{"code":"x"}]}`),
		post(`{"tags":["a"],"pasties":[]}`),
		post(`{"tags":" , ","isPrivate":false,"isPublic":false,"pasties":[{"code":"x"}]}`),
		post(`{"tags":[],"isPrivate":false,"isPublic":false,"pasties":[{"code":"x"}]}`),
	}},
	{"both private and public", []request{
		post(`{"isPrivate":true,"isPublic":true,"pasties":[{"code":"x"}]}`, owner),
	}},
	{"`tags`", []request{
		post(`{"tags":"b, a,,b , c d","pasties":[{"code":"x"}]}`, owner),
		post(`{"tags":["b,é","a","Z",""],"pasties":[{"code":"x"}]}`, owner),
		post(`{"tags":"`+numbered(100)+`","pasties":[{"code":"x"}]}`, owner),
		post(`{"tags":"`+numbered(101)+`","pasties":[{"code":"x"}]}`, owner),
		post(`{"tags":["`+strings.Repeat("é", 100)+`"],"pasties":[{"code":"x"}]}`, owner),
		post(`{"tags":["`+strings.Repeat("é", 101)+`"],"pasties":[{"code":"x"}]}`, owner),
	}},
	{"`encrypted: true` or `encrypt: true`", []request{
		post(`{"encrypted":true,"pasties":[{"code":"x"}]}`),
		post(`{"encrypt":true,"pasties":[{"code":"x"}]}`),
		post(`{"encrypt":true,"encrypted":false,"pasties":[{"code":"x"}]}`, owner),
		post(`{"encrypt":false,"encrypted":false,"pasties":[{"code":"x"}]}`),
	}},
	{"POST `/raw`", []request{
		with(http.MethodPost, "/raw?title=a+b%2Fmain.c&language=C++&expiresIn=2h&isPrivate=false&isPublic=TRUE&tags=b,a",
			owner, asJSON,
			"\nint main() {}\r\n").as("text"),
		get("/paste/<text>", owner),
		with(http.MethodPost, "/raw?language=Plain+Text", "\n{}"),
		with(http.MethodPost, "/raw?language=", "\nx"),
		with(http.MethodPost, "/raw?language=no-such-language", "\nx"),
		with(http.MethodPost, "/raw?expiresIn=3h", "\nx"),
		with(http.MethodPost, "/raw?isPrivate=yes", "\nx", owner),
		with(http.MethodPost, "/raw?isPrivate=", "\nx", owner),
		with(http.MethodPost, "/raw?isPrivate", "\nx", owner),
		with(http.MethodPost, "/raw?title=a&isPublic", "\nx"),
		with(http.MethodPost, "/raw?isPublic=true", "\nx"),
		with(http.MethodPost, "/raw?isPrivate=true&isPublic=true", "\nx", owner),
		with(http.MethodPost, "/raw?tags="+numbered(101), "\nx", owner),
		with(http.MethodPost, "/raw?title="+strings.Repeat("x", 4097), "\nx"),
		with(http.MethodPost, "/raw", "\n"),
		with(http.MethodPost, "/raw"),
		with(http.MethodPost, "/raw", "\ncaf\xe9"),
		with(http.MethodPost, "/raw", "Content-Type: application/json", "\na\x00b"),
		with(http.MethodPost, "/raw", "Accept: */*", "\nx").as("link"),
		get("/paste/<link>"),
		with(http.MethodPost, "/raw", "Accept: text/plain, application/json;q=0.9", "\nx"),
		with(http.MethodPost, "/raw", "Accept: text/html, */*;q=0.1", "\nx"),
		with(http.MethodPost, "/raw", "Accept: application/json, text/plain, */*", "\nx"),
		with(http.MethodPost, "/raw", "X-Forwarded-Proto: https", "X-Forwarded-Host: paste.example", "\nx"),
	}},

	{"burn after reading", []request{
		with(http.MethodPost, "/raw?burn=true&tags=mine", owner, "Accept: application/json", "\nsecret").as("burning"),
		get("/paste/<burning>"),
		get("/paste/<burning>", stranger),
		get("/raw/<burning>/<burning.0>"),
		with(http.MethodDelete, "/paste/<burning>", stranger),
		patch("/paste/<burning>", `{"title":"x"}`, stranger),
		get("/paste/<burning>", owner),
		get("/raw/<burning>/<burning.0>", owner),
		get("/raw/<burning>/<burning.0>/original", owner),
		edit("/paste/<burning>", `{"title":"edited"}`),
		edit("/paste/<burning>", `{"isPublic":true}`),
		get("/open/<burning>"),
		with(http.MethodPost, "/open/<burning>", stranger),
		with(http.MethodPost, "/open/<burning>"),
		get("/paste/<burning>", owner),
		post(`{"burn":true,"isPrivate":true,"pasties":[{"code":"secret"}]}`, owner).as("burning"),
		with(http.MethodPost, "/open/<burning>"),
		with(http.MethodPost, "/open/<burning>", stranger),
		with(http.MethodPost, "/open/<burning>", owner),
		post(`{"burn":true,"pasties":[{"code":"secret"}]}`, owner).as("burning"),
		with(http.MethodDelete, "/paste/<burning>", owner),
		with(http.MethodPost, "/open/<burning>"),
		post(`{"burn":true,"expiresIn":"1h","pasties":[{"code":"anonymous"}]}`).as("burning"),
		with(http.MethodPost, "/open/<burning>/", authorization("unknown")),
		with(http.MethodPost, "/open/oldest01"),
		with(http.MethodPost, "/open/%ff"),
		post(`{"burn":true,"isPublic":true,"pasties":[{"code":"x"}]}`, owner),
		post(`{"burn":"yes","pasties":[{"code":"x"}]}`),
		with(http.MethodPost, "/raw?burn", "\nx"),
		with(http.MethodPost, "/raw?burn=", "\nx"),
		with(http.MethodPost, "/raw?burn=1", "\nx"),
		with(http.MethodOptions, "/open/<burning>", fromWeb),
	}},

	{"encrypted by the client", []request{
		encrypted(`{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ",` +
			`"salt":"AAECAwQFBgcICQoLDA0ODw"}`).as("encrypted"),
		get("/encrypted/<encrypted>"),
		get("/encrypted/<encrypted>", "If-None-Match: *"),
		get("/encrypted/<encrypted>", stranger),
		get("/paste/<encrypted>"),
		get("/raw/<encrypted>/aaaaaaaa"),
		with(http.MethodPost, "/open/<encrypted>"),
		with(http.MethodDelete, "/paste/<encrypted>", stranger),
		encrypted(`{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ","isPrivate":true,"salt":null}`,
			owner).as("encrypted"),
		get("/encrypted/<encrypted>"),
		get("/encrypted/<encrypted>", stranger),
		get("/encrypted/<encrypted>", owner),
		edit("/paste/<encrypted>", `{"title":"x"}`),
		with(http.MethodDelete, "/paste/<encrypted>", owner),
		encrypted(`{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ","burn":true}`,
			owner).as("encrypted"),
		get("/encrypted/<encrypted>", owner),
		get("/paste/<encrypted>", owner),
		with(http.MethodPost, "/open/<encrypted>"),
		with(http.MethodPost, "/open/<encrypted>"),
		get("/encrypted/cipher01", owner),
		get("/encrypted/%ff"),
		get("/encrypted"),
		encrypted(`{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ","isPrivate":true}`),
		encrypted(sealed, authorization("unknown")),
		encrypted(sealed, "Content-Encoding: deflate"),
		with(http.MethodPost, "/encrypted", "Content-Length: 9223372036854775807"),
		encrypted(`{"version":2,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ"}`),
		encrypted(`{"version":1.5,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ"}`),
		encrypted(`{"version":"1","cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ"}`),
		encrypted(`{"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ"}`),
		encrypted(`{"version":1}`),
		encrypted(`{"version":1,"cipher":"AAAA"}`),
		encrypted(`{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ="}`),
		encrypted(`{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ","salt":"AAAA"}`),
		encrypted(`{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ","expiresIn":"3w"}`),
		encrypted(`{"version":1,"cipher":"AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ","title":"in the clear"}`),
		with(http.MethodOptions, "/encrypted", fromWeb),
	}},

	// Reading. <public> exists from here on, <private> until DELETE.
	{"public or unlisted, any token or none, valid or not", []request{
		post(`{"isPublic":true,"tags":"mine","pasties":[{"title":"t","code":"public"}]}`, owner).as("public"),
		get("/paste/<public>"),
		get("/paste/<public>/", authorization("")),
		get("/paste/<public>", owner),
		get("/paste/<public>", stranger),
		get("/paste/<public>", revoked),
		get("/paste/<public>", authorization("unknown")),
		with(http.MethodHead, "/paste/<public>"),
		get("/paste/oldest01"),
	}},
	{"private without its owner's token; encrypted; expired though not swept; malformed id; other case", []request{
		post(`{"isPrivate":true,"pasties":[{"code":"secret"}]}`, owner).as("private"),
		get("/paste/<private>", owner),
		get("/raw/<private>/<private.0>", owner),
		get("/paste/<private>"),
		get("/paste/<private>", stranger),
		get("/paste/<private>", revoked),
		get("/raw/<private>/<private.0>"),
		get("/raw/<private>/<private.0>", stranger),
		get("/paste/nothing1"),
		get("/paste/nothing1", stranger),
		get("/paste/cipher01", owner),
		get("/paste/cipher01"),
		get("/paste/expired1", owner),
		get("/paste/OLDEST01"),
		get("/paste/old%00est"),
		get("/paste/%ff"),
		get("/paste/" + strings.Repeat("a", 65)),
		get("/paste//"),
		with(http.MethodHead, "/paste/<private>"),
	}},
	{"caching", []request{
		get("/paste/<public>").as("public"),
		get("/paste/<public>", "If-None-Match: <public.etag>"),
		with(http.MethodHead, "/paste/<public>", "If-None-Match: W/<public.etag>"),
		get("/paste/<public>", "If-None-Match: \"other\""),
		get("/paste/<public>", "If-None-Match: *", owner),
		get("/paste/<private>", "If-None-Match: *", owner),
		get("/raw/<public>/<public.0>"),
		get("/raw/<public>/<public.0>", "If-None-Match: *"),
		get("/raw/<public>/<public.0>", owner),
	}},
	{"`/raw/…` of an unknown pasty", []request{
		get("/raw/<public>/nothing1"),
		get("/raw/nothing1/nothing1"),
		get("/raw/<public>/<private.0>"),
		get("/raw/<public>/<public.0>/"),
		with(http.MethodHead, "/raw/<public>/<public.0>"),
	}},

	// Editing.
	{"editing: no token, or one that is not valid", []request{
		patch("/paste/<public>", `{"title":"x"}`),
		patch("/paste/<public>", `{"title":"x"}`, authorization("")),
		patch("/paste/<public>", `{"title":"x"}`, revoked),
		patch("/paste/<public>", `not JSON`),
		patch("/paste/nothing1", `not JSON`, revoked),
		with(http.MethodDelete, "/paste/<public>"),
		with(http.MethodDelete, "/paste/<public>", revoked),
		with(http.MethodDelete, "/paste/nothing1"),
	}},
	{"editing: not the owner's; an anonymous or encrypted paste", []request{
		post(simple).as("anonymous"),
		patch("/paste/<public>", `{"title":"x"}`, stranger),
		patch("/paste/<private>", `{"title":"x"}`, stranger),
		edit("/paste/<anonymous>", `{"title":"x"}`),
		edit("/paste/cipher01", `{"title":"x"}`),
		edit("/paste/expired1", `{"title":"x"}`),
		edit("/paste/nothing1", `{"title":"x"}`),
		edit("/paste/nothing1", `not JSON`),
		patch("/paste/<public>", `{"title":5}`, stranger),
		with(http.MethodDelete, "/paste/<public>", stranger),
		with(http.MethodDelete, "/paste/<anonymous>", owner),
		with(http.MethodDelete, "/paste/expired1", owner),
	}},
	{"`{}` or values as they are; no body", []request{
		edit("/paste/<public>", `{}`),
		edit("/paste/<public>/", `{"title":"","isPublic":true,"tags":["mine"],"pasties":[`+
			`{"_id":"<public.0>","title":"t","language":"Plain Text","code":"public"}]}`),
		edit("/paste/imported", `{"title":"`+longTitle+`","tags":[],"pasties":[`+
			`{"_id":"part0001","title":"t","language":"unknown","code":"a\r\nb"}]}`),
		edit("/paste/<public>", ``),
		with(http.MethodPatch, "/paste/<public>", owner),
		edit("/paste/<public>", `[]`),
		edit("/paste/<public>", `{"title":5}`),
		edit("/paste/<public>", `{"title":"x"} x`),
		edit("/paste/<public>", `{"pasties":[{"_id":5}]}`),
		edit("/paste/<public>", `{"tags":7}`),
	}},
	{"`title`, pasty `title` / `language` / `code`", []request{
		edit("/paste/<public>", `{"title":"new"}`),
		edit("/paste/<public>", `{"pasties":[{"_id":"<public.0>","title":"main.go"}]}`),
		edit("/paste/<public>", `{"pasties":[{"_id":"<public.0>","language":"go"}]}`),
		edit("/paste/<public>", `{"pasties":[{"_id":"<public.0>","code":"one\r\ntwo\n"}]}`),
		edit("/paste/<public>", `{"title":"`+strings.Repeat("é", 1025)+`"}`),
		edit("/paste/<public>", `{"pasties":[{"_id":"<public.0>","title":"`+strings.Repeat("é", 4097)+`"}]}`),
		edit("/paste/<public>", `{"pasties":[{"_id":"<public.0>","language":"no-such-language"}]}`),
		edit("/paste/<public>", `{"pasties":[{"_id":"<public.0>","language":""}]}`),
		get("/paste/<public>"),
	}},
	{"a pasty without `_id`; one that is left out; `pasties: []`; fields absent; order", []request{
		edit("/paste/<public>", `{"pasties":[{"code":"added","title":"a.py"},{"_id":"<public.0>"},{"_id":null,"code":""},`+
			`{"_id":"","code":"x","language":"C"}]}`),
		edit("/paste/<public>", `{"pasties":[{"code":null}]}`),
		edit("/paste/<public>", `{"pasties":[]}`),
		edit("/paste/<public>", `{"pasties":null}`),
		edit("/paste/<public>",
			`{"pasties":[{"_id":"<public.3>"},{"_id":"<public.2>"},{"_id":"<public.1>"},{"_id":"<public.0>"}]}`),
		edit("/paste/<public>", `{"pasties":[{"_id":"<public.0>"},{"_id":"<public.1>"}]}`),
	}},
	{"an `_id` of no pasty of this paste, or twice the same", []request{
		edit("/paste/<public>", `{"title":"lost","pasties":[{"_id":"nothing1","code":"x"}]}`),
		edit("/paste/<public>", `{"title":"lost","pasties":[{"_id":"<private.0>","code":"x"}]}`),
		edit("/paste/<public>", `{"title":"lost","pasties":[{"_id":"<public.0>"},{"_id":"<public.0>"}]}`),
		edit("/paste/<public>", `{"title":"lost","pasties":[`+times(1001, `{"code":""}`)+`]}`),
		get("/paste/<public>"),
	}},
	{"`tags`, `isPrivate`, `isPublic`", []request{
		edit("/paste/<private>", `{"tags":"b,a"}`),
		edit("/paste/<private>", `{"tags":["c","b,a"]}`),
		edit("/paste/<private>", `{"tags":null}`),
		edit("/paste/<private>", `{"tags":""}`),
		edit("/paste/<private>", `{"tags":"a"}`),
		edit("/paste/<private>", `{"tags":[]}`),
		edit("/paste/<private>", `{"isPublic":true}`),
		edit("/paste/<private>", `{"isPublic":true,"isPrivate":false}`),
		get("/paste/<private>"),
		edit("/paste/<private>", `{"isPublic":false,"isPrivate":true}`),
		get("/paste/<private>"),
	}},
	{"fields that are ignored whatever their type", []request{
		edit("/paste/<private>", `{"expiresIn":5,"deletesAt":"x","stars":{},"ownerId":["a"],`+
			`"edits":false,"encrypted":"x","_id":5,"createdAt":null}`),
		edit("/paste/<private>", `{"expiresIn":"1h","deletesAt":1,"stars":9,"ownerId":"mortar01",`+
			`"edits":[],"encrypted":true,"_id":"other001","createdAt":1}`),
	}},
	{"DELETE", []request{
		with(http.MethodDelete, "/paste/<private>/", owner, "\nignored"),
		get("/paste/<private>", owner),
		with(http.MethodDelete, "/paste/<private>", owner),
		with(http.MethodDelete, "/paste/cipher01", owner),
		with(http.MethodDelete, "/paste/cipher01", owner),
	}},
	{"delete keys", []request{
		post(simple, fromWeb).as("keyed"),
		post(simple, owner),
		with(http.MethodDelete, "/paste/<keyed>"),
		with(http.MethodDelete, "/paste/<keyed>", "Gluepot-Delete-Key: wrong"),
		with(http.MethodDelete, "/paste/<keyed>", "Gluepot-Delete-Key: <link.key>"),
		with(http.MethodDelete, "/paste/<keyed>", "Gluepot-Delete-Key: "),
		with(http.MethodDelete, "/paste/<keyed>", stranger),
		with(http.MethodDelete, "/paste/<keyed>", stranger, "Gluepot-Delete-Key: wrong"),
		with(http.MethodDelete, "/paste/<keyed>", revoked, "Gluepot-Delete-Key: <keyed.key>"),
		with(http.MethodDelete, "/paste/<public>", "Gluepot-Delete-Key: <keyed.key>"),
		with(http.MethodDelete, "/paste/nothing1", "Gluepot-Delete-Key: <keyed.key>"),
		with(http.MethodDelete, "/paste/<keyed>", "Gluepot-Delete-Key: <keyed.key>", fromWeb),
		with(http.MethodDelete, "/paste/<keyed>", "Gluepot-Delete-Key: <keyed.key>"),
		get("/paste/<keyed>"),
		with(http.MethodDelete, "/paste/<link>", stranger, "Gluepot-Delete-Key: <link.key>"),
	}},

	{"`expiresInToUnixTime`", []request{
		get("/time/expiresInToUnixTime/?createdAt=0&expiresIn=1h"),
		get("/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=never"),
		get("/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=1m", revoked),
		get("/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=oneyear"),
		get("/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=NEVER"),
		get("/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=TenHours"),
		get("/time/expiresInToUnixTime?createdAt=1588441258&expiresIn=3h"),
		get("/time/expiresInToUnixTime?createdAt=1588441258"),
		get("/time/expiresInToUnixTime?expiresIn=1w"),
		get("/time/expiresInToUnixTime?createdAt=-1&expiresIn=1w"),
		get("/time/expiresInToUnixTime?createdAt=1.5&expiresIn=1w"),
		get("/time/expiresInToUnixTime?createdAt=1e3&expiresIn=1w"),
		get("/time/expiresInToUnixTime?createdAt=9223372036854775807&expiresIn=never"),
		get("/time/expiresInToUnixTime?createdAt=9223372036854775807&expiresIn=1h"),
		get("/time/expiresInToUnixTime?createdAt=9223372036854775808&expiresIn=never"),
		with(http.MethodHead, "/time/expiresInToUnixTime?createdAt=0&expiresIn=1h"),
	}},
	{"CORS", []request{
		with(http.MethodOptions, "/paste", fromWeb, "Access-Control-Request-Method: POST",
			"Access-Control-Request-Headers: authorization"),
		with(http.MethodOptions, "/paste/", fromWeb),
		with(http.MethodOptions, "/paste/<public>", fromWeb),
		with(http.MethodOptions, "/raw"),
		with(http.MethodOptions, "/raw/a/b/"),
		with(http.MethodOptions, "/time/expiresInToUnixTime"),
		with(http.MethodOptions, "/user/Epoxy/exists", fromWeb),
		with(http.MethodOptions, "/user/Epoxy"),
		with(http.MethodOptions, "/user/self/pastes/", revoked),
		with(http.MethodOptions, "/user/self"),
		with(http.MethodOptions, "/data/languageExt"),
		with(http.MethodOptions, "/data/numPastes"),
		with(http.MethodOptions, "/nowhere", fromWeb),
		get("/paste/<public>", fromWeb),
		get("/paste/<public>", fromWeb, "If-None-Match: *"),
		get("/paste/nothing1", fromWeb),
		get("/raw/<public>/<public.0>", fromWeb),
		post(simple, fromWeb),
		post(simple, fromWeb, revoked),
		post(`{}`, fromWeb),
		with(http.MethodPost, "/paste", "Content-Length: 2097153", fromWeb),
		get("/paste", fromWeb),
		get("/nowhere", "Origin: null"),
		get("/user%2Fself", fromWeb),
		get("/user/self", fromWeb, owner),
		get("/user/self", fromWeb),
		get("/user/Epoxy/exists", fromWeb),
		get("/data/language?name=Rust", fromWeb),
		get("/data/language?name=Rust", fromWeb, "If-None-Match: *"),
		get("/data/numPastes", fromWeb),
		get("/healthz", fromWeb),
	}},
	{"`/list/…`", []request{
		post(`{"title":"Listed","isPublic":true,"tags":"z",`+
			`"pasties":[{"title":"main.go","code":"package listed\nneedle\n"}]}`, owner).as("listed"),
		get("/list/own?title=LISTED", owner),
		get("/list/own/?tag=z&sort=edited", owner, fromWeb),
		get("/list/own"),
		get("/list/own", revoked),
		get("/list/own?sort=stars", owner),
		get("/list/own?limit=0", owner),
		get("/list/own?limit=101", owner),
		get("/list/own?limit=x", owner),
		get("/list/own?cursor=x", owner),
		get("/list/own?cursor=AAAAAAAAWyIxIiwiYSIsIiJd", owner),
		get("/list/starred", stranger),
		get("/list/starred"),
		get("/list/starred?cursor=x", owner),
		get("/list/user/EPOXY?tag=z"),
		get("/list/user/epoxy?cursor=x"),
		get("/list/user/mortar"),
		get("/list/user/nobody"),
		get("/list/recent"),
		get("/list/search?q=needle+listed"),
		get("/list/search?q=needle+listed", owner),
		get("/list/search?q=ne"),
		get("/list/search"),
		get("/list/search?q=mine:"),
		get("/list/search?q=needle&cursor=x"),
		with(http.MethodHead, "/list/user/epoxy"),
		with(http.MethodPost, "/list/own"),
		get("/list"),
		with(http.MethodDelete, "/paste/<listed>", owner),
	}},
	{"PUT, DELETE `/paste/{id}/star`", []request{
		post(`{"pasties":[{"code":"x"}]}`, owner).as("starred"),
		post(`{"isPrivate":true,"pasties":[{"code":"x"}]}`, owner).as("hidden"),
		with(http.MethodPut, "/paste/<starred>/star", stranger),
		with(http.MethodPut, "/paste/<starred>/star/", stranger, "\n{}"),
		with(http.MethodPut, "/paste/<starred>/star", owner, fromWeb),
		get("/paste/<starred>"),
		with(http.MethodDelete, "/paste/<starred>/star", owner),
		with(http.MethodDelete, "/paste/<starred>/star", owner),
		with(http.MethodDelete, "/paste/<starred>/star", stranger),
		with(http.MethodPut, "/paste/<starred>/star"),
		with(http.MethodDelete, "/paste/<starred>/star", revoked),
		with(http.MethodPut, "/paste/nothing1/star", owner),
		with(http.MethodDelete, "/paste/nothing1/star", owner),
		with(http.MethodPut, "/paste/<hidden>/star", stranger),
		with(http.MethodDelete, "/paste/<hidden>/star", stranger),
		with(http.MethodPut, "/paste/<hidden>/star", owner),
		with(http.MethodDelete, "/paste/<hidden>/star", owner),
		with(http.MethodPut, "/paste/cipher01/star", owner),
		with(http.MethodPut, "/paste/%ff/star", owner),
		get("/paste/<starred>/star"),
		with(http.MethodOptions, "/paste/<starred>/star", fromWeb),
		with(http.MethodDelete, "/paste/<starred>", owner),
		with(http.MethodDelete, "/paste/<hidden>", owner),
	}},
	{"`curl -T`", []request{
		with(http.MethodPut, "/raw", "Accept: */*", "\n#!/bin/sh\r\n").as("put"),
		get("/paste/<put>"),
		get("/raw/<put>"),
		get("/raw/<put>/", "If-None-Match: *"),
		with(http.MethodHead, "/raw/<put>"),
		with(http.MethodPut, "/raw/", asJSON, "\nx"),
		with(http.MethodPut, "/raw/main.go", asJSON, "\nx"),
		with(http.MethodPut, "/raw/a%20b%2B+.c/?expiresIn=1h&isPublic=true&tags=a", owner, asJSON, "\nx"),
		with(http.MethodPut, "/raw/main.go?title=other.c", asJSON, "\nx"),
		with(http.MethodPut, "/raw/..%2Fx", "\nx"),
		with(http.MethodPut, "/raw/%ff", "\nx"),
		with(http.MethodPut, "/raw/a/b", "\nx"),
		with(http.MethodPut, "/raw/"+strings.Repeat("x", 4097), "\nx"),
		with(http.MethodPut, "/raw?isPrivate", "\nx"),
		with(http.MethodPut, "/raw", "Transfer-Encoding: chunked", "\nx"),
		with(http.MethodPut, "/raw", "\n"),
		with(http.MethodPut, "/", asJSON, "\nx"),
		with(http.MethodPut, "/main.go", asJSON, "\nx"),
		with(http.MethodPut, "/main.go", fromWeb, "\nx"),
		with(http.MethodPut, "/paste", "\nx"),
		with(http.MethodPut, "/a/b", "\nx"),
		with(http.MethodPut, "/a%2Fb", "\nx"),
		with(http.MethodOptions, "/raw/a", fromWeb),
		get("/raw/nothing1"),
		get("/raw/cipher01"),
	}},
	{"`curl -F`", []request{
		form("/raw", part(`name="file"; filename="a.go"`, "package a\r\n")+part(`name="file"; filename="b"`, ""), asJSON),
		form("/raw?title=T&expiresIn=1h", part(`name=x; filename="a/ü \"b\".c"`, "x"), asJSON),
		form("/raw?language=C", part(`name="tags"`, "b,a")+part(`name="isPrivate"`, "true")+part(`name="title"`, "T")+
			part(`name="language"`, "Go")+part(`name="file"; filename=""`, "x"), asJSON, owner),
		form("/raw", part(`name="f"`, "x")+part(`name="title"`, "main.c")+part(`name="language"`, "C++"), asJSON),
		form("/", part(`name="f"`, "x")).as("formed"),
		get("/raw/<formed>"),
		form("/raw/", part(`name="f"`, "x"), "Accept: */*"),
		form("/raw", part(`name="f"`, "")),
		form("/raw", part(`name="f"`, "x")+part(`name="g"`, "y")),
		form("/raw", part(`name="file"; filename="a"`, "x")+part(`name="expires"`, "1h")),
		form("/raw", part(`name="burn"`, "true")),
		form("/raw", part(`name="burn"`, "")+part(`name="f"`, "x")),
		form("/raw", part(`name="burn"`, "true")+part(`name="burn"`, "false")+part(`name="f"`, "x")),
		form("/raw", part(`name="isPrivate"`, "true")+part(`name="file"; filename="a"`, "x")),
		form("/raw", part(`name="file"; filename="a"`, "caf\xe9")),
		form("/raw", part(`name="file"; filename="`+strings.Repeat("x", 4097)+`"`, "x")),
		form("/raw", part(`name="file"; filename="`+strings.Repeat("x", 33_000)+`"`, "x")),
		form("/raw", strings.Repeat(part(`name="file"; filename="a"`, "x"), 1001)),
		form("/raw", part(`name="file"; filename=a; filename=b`, "x")),
		form("/raw", "--x\r\n\r\nx\r\n"),
		form("/raw", ""),
		with(http.MethodPost, "/raw", asForm, "\n"),
		with(http.MethodPost, "/raw", asForm, "\n"+part(`name="file"; filename="a"`, "x")),
		with(http.MethodPost, "/raw", "Content-Type: multipart/form-data", "\n--\r\n\r\nx\r\n----\r\n"),
	}},
}

func numbered(count int) string {
	var tags strings.Builder
	for i := range count {
		fmt.Fprintf(&tags, "%03d,", i)
	}
	return strings.TrimSuffix(tags.String(), ",")
}

// longTitle is longer than the title of a new paste may be.
var longTitle = strings.Repeat("t", 1025)
