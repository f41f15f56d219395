package pastes_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

var (
	rowPattern  = regexp.MustCompile(`<tr>.*?</tr>`)
	cellPattern = regexp.MustCompile(`<t[dh](?: scope="col")?(?: class="(.*?)")?>(?:<bdi>(.*?)</bdi>)?</t[dh]>`)
	signs       = map[string]string{"": "|", "number": "#", "date": "@"}
)

// tableOf returns the rows of the table on a page. After a value is the sign of its class.
func tableOf(page string) string {
	_, table, _ := strings.Cut(page, "<table>")
	table, _, _ = strings.Cut(table, "</table>")
	var b strings.Builder
	for _, row := range rowPattern.FindAllString(table, -1) {
		for _, cell := range cellPattern.FindAllStringSubmatch(row, -1) {
			b.WriteString(html.UnescapeString(cell[2]) + signs[cell[1]])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestTables renders tables as programs export them.
func TestTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ language, code, want string }{
		"semicolons": {"CSV", "name;price;note\nbread;1,50;fresh\nmilk;0,99;cold\n",
			"name|price#note|\nbread|1,50#fresh|\nmilk|0,99#cold|\n"},
		"a separator":   {"CSV", "sep=;\nname;price\nbread;1,50\n", "name|price#\nbread|1,50#\n"},
		"an odd one":    {"CSV", "sep=:\r\na,b:c\r\nd:e\r\n", "a,b|c|\nd|e|\n"},
		"tabs":          {"CSV", "name\tprice\nbread\t1,50\n", "name|price#\nbread|1,50#\n"},
		"bars":          {"CSV", "a|b, c\nd|e\n", "a|b, c|\nd|e|\n"},
		"commas":        {"CSV", "a,\"b;c\"\nd;e,f\n", "a|b;c|\nd;e|f|\n"},
		"one column":    {"CSV", "a\nb c\n", "a|\nb c|\n"},
		"a mark":        {"CSV", "\ufeff\"id\",\"name\"\r\n\"1\",\"Ann\"\r\n", "id#name|\n1#Ann|\n"},
		"a mark in TSV": {"TSV", "\ufeffid\tname\r\n1\tAnn\r\n", "id#name|\n1#Ann|\n"},
		"quotes in TSV": {"TSV", "size\tname\n5\" disk\tone\n\"wide\ttwo\n7\tthree\n",
			"size|name|\n5\" disk|one|\n\"wide|two|\n7|three|\n"},
		"numbers": {"CSV", "a,b,c,d\n1,-2.5%,,x\n5,$1 000.00,3e5,4\n",
			"a#b#c#d|\n1#-2.5%##x|\n5#$1 000.00#3e5#4|\n"},
		"dates": {"CSV", "a,b\n2026-11-28,10:30\n28.11.2026 9:05,x\n",
			"a|b|\n2026-11-28@10:30@\n28.11.2026 9:05@x|\n"},
		"empty rows":      {"CSV", "a,b\n\n,\nc,d\n\n", "a|b|\nc|d|\n"},
		"rows do not fit": {"CSV", "a,b\n1,2,3\n", ""},
		"a row is short":  {"CSV", "a,b,c\n1,2\n", ""},
		"TSV, not fit":    {"TSV", "a\tb\nc\n", ""},
		"an open quote":   {"CSV", "a,b\n\"c,d\ne,f\n", ""},
		"nothing":         {"CSV", "\n\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := visit.New(t)
			s.Holds("table000", visit.Content(paste.Pasty{Language: c.language, Code: c.code}))
			page := s.Page("/table000")
			if got := tableOf(page); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			visit.WantIn(t, page, `id="L1"`) // the source
		})
	}
}

// TestByteOrderMark renders Markdown that a Windows program saved.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Holds("windows0", visit.Content(paste.Pasty{Language: "Markdown", Code: "\ufeff# Notes\r\n\r\nText.\r\n"}))
	visit.WantIn(t, s.Page("/windows0"), `">Notes <a class="anchor"`)
}
