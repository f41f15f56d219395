package pastes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gluepot/gluepot/adapters/pages/highlight"
	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

type edit struct {
	Number  string
	At      time.Time
	Entries []entry
}

// entry is one change: of a text, or of code.
type entry struct {
	What     string     // such as "Language of"
	Of       marks.Text // the pasty, or ""
	Number   int        // on the page, from 1
	Old, New marks.Text // if Texts
	Texts    bool       // show Old and New; otherwise code
	TooLong  bool       // show neither
	sign     string     // precedes every line of the code; empty: the code is a diff
	code     string
	language string // of the code
	colour   colourFunc
}

// edits returns a paste's history, newest first. The store has only old values, so edits walks back from the current
// ones. Imported entries may be inconsistent.
func edits(doc *paste.Document) []edit {
	title := doc.Title
	titles, languages := make(map[string]string), make(map[string]string)
	numbers := make(map[string]int) // begin at 1
	for i, pasty := range doc.Pasties {
		titles[pasty.ID], languages[pasty.ID], numbers[pasty.ID] = pasty.Title, pasty.Language, i+1
	}
	var all []edit
	for _, e := range slices.Backward(doc.Edits) {
		number := strconv.FormatInt(e.Number, 10)
		if n := len(all); n == 0 || all[n-1].Number != number {
			all = append(all, edit{Number: number, At: e.At})
		}
		id := ""
		if len(e.Metadata) > 0 {
			id = e.Metadata[0]
		}
		if len(e.Metadata) >= 3 {
			titles[id], languages[id] = e.Metadata[1], e.Metadata[2]
		}
		change := entry{
			Of: marks.Text(site.Shortened(string(nameOf(titles[id], numbers[id])), site.MaxName)), language: languages[id],
		}
		switch e.Type {
		case paste.EditTitle:
			change.What, change.Of, change.Texts = "Title", "", true
			change.Old, change.New = marks.Text(e.Text), marks.Text(title)
			title = e.Text
		case paste.EditPastyTitle:
			change.What, change.Of, change.Texts = "Name", "", true
			change.Old, change.New = nameOf(e.Text, numbers[id]), nameOf(titles[id], numbers[id])
			titles[id] = e.Text
		case paste.EditPastyLanguage:
			change.What, change.Texts = "Language of", true
			change.Old, change.New = marks.Text(e.Text), marks.Text(languages[id])
			languages[id] = e.Text
		case paste.EditPastyCode:
			change.What, change.code = "Changed", e.Text
		case paste.EditPastyAdded:
			change.What, change.sign, change.code = "Added", "+", e.Text
		case paste.EditPastyRemoved:
			change.What, change.sign, change.code = "Removed", "-", e.Text
		default:
			continue
		}
		newest := &all[len(all)-1]
		newest.Entries = append(newest.Entries, change)
	}
	for i := range all {
		slices.Reverse(all[i].Entries)
	}
	return all
}

// nameOf returns the name to show for a pasty with this title. number is its number in the paste, or 0 if it has been
// removed.
func nameOf(title string, number int) marks.Text {
	switch {
	case strings.TrimSpace(title) != "":
		return marks.Text(title)
	case number > 0:
		return marks.Text("Snippet " + strconv.Itoa(number))
	}
	return "a snippet without a name"
}

func (p *pages) history(w http.ResponseWriter, r *site.Request) error {
	doc, err := p.Read(r)
	if err != nil {
		return err
	}
	page := newPastePage(r, &doc)
	page.Title = "History of " + page.Title
	history := edits(&doc)
	colour := newColouring(r.Context()).scope(p.colours, string(doc.ID)+"/history")
	changes := 0
	for i := range history {
		for j := range history[i].Entries {
			changes++
			history[i].Entries[j].Number, history[i].Entries[j].colour = changes, colour
		}
	}
	return p.show(w, r, fit(history), p.historyView(page, history))
}

func (p *pages) revision(w http.ResponseWriter, r *site.Request) error {
	number := r.PathValue("edit")
	doc, err := p.Modules.Pastes.Read.Revision(r.Context(), r.Viewer, r.PathValue("id"), number)
	if err != nil {
		return p.Explained(r, err)
	}
	page := newPastePage(r, &doc)
	page.Revision, page.Title = number, "Revision of "+page.Title
	page.Incomplete = page.incomplete()
	r.Policy = page.policy()
	return p.show(w, r, page.size(), p.revisionView(page))
}

func (p *pages) restore(w http.ResponseWriter, r *site.Request) error {
	id := r.PathValue("id")
	_, err := p.Modules.Pastes.EditOwn.Restore(r.Context(), r.Actor(), id, r.PathValue("edit"))
	return p.Done(w, site.PathOfPaste(id), err)
}

// fit marks the entries that the page is too full for as too long, and returns the size of the others in bytes.
func fit(all []edit) int {
	bytesLeft, linesLeft := site.MaxShownBytes, maxShownLines
	for i := range all {
		for j := range all[i].Entries {
			e := &all[i].Entries[j]
			length, lineCount := len(e.Of)+len(e.Old)+len(e.New)+len(e.code), lines(e.code)
			if e.TooLong = length > bytesLeft || lineCount > linesLeft; !e.TooLong {
				bytesLeft -= length
				linesLeft -= lineCount
			}
		}
	}
	return site.MaxShownBytes - bytesLeft
}

// diffClasses maps the first character of a diff's line to a class of the style sheet.
var diffClasses = map[string]string{"+": "n", "-": "d", "@": "hunk", "\\": "hunk"}

// hunkHeader begins a hunk of a diff. It has the numbers of the hunk's first lines.
var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// diff is the code of an entry, line by line.
type diff struct {
	signed  bool                     // the code is not a diff: each line has the entry's sign
	lines   []string                 // with their signs, without newlines
	colours map[int][]highlight.Span // by the line's index
	late    bool                     // some colours are not ready
}

// diff returns the entry's code.
func (e *entry) diff(ctx context.Context) *diff {
	d := &diff{
		signed: e.sign != "", lines: slices.Collect(strings.Lines(strings.TrimPrefix(e.code, paste.DiffHeader))),
		colours: map[int][]highlight.Span{},
	}
	for i, line := range d.lines {
		d.lines[i] = e.sign + strings.TrimSuffix(line, "\n")
	}
	// the code before the edit and the code after it, as far as the diff shows them
	for _, other := range [...]string{"+", "-"} {
		d.colour(other, func(code string) highlight.Colours { return e.colour(ctx, e.language, code) })
	}
	return d
}

// colour sets the colours of the lines without the sign of the other side.
func (d *diff) colour(other string, colour func(code string) highlight.Colours) {
	var code strings.Builder
	for _, line := range d.lines {
		if d.hasCode(line) && !strings.HasPrefix(line, other) {
			code.WriteString(line[1:] + "\n")
		}
	}
	colours := colour(code.String())
	d.late = d.late || colours.Late
	spans := slices.Clone(colours.Spans) // the cache shares them
	for i, line := range d.lines {
		if len(spans) == 0 {
			return
		}
		if !d.hasCode(line) || strings.HasPrefix(line, other) {
			continue
		}
		lineSpans := []highlight.Span{{Length: 1}} // the sign
		for rest := uint32(len(line)); rest > 0 && len(spans) > 0; {
			length := min(rest, spans[0].Length)
			lineSpans = append(lineSpans, highlight.Span{Length: length, Class: spans[0].Class})
			rest -= length
			if spans[0].Length -= length; spans[0].Length == 0 {
				spans = spans[1:]
			}
		}
		d.colours[i] = lineSpans
	}
}

// hasCode reports whether a line has code after its sign.
func (d *diff) hasCode(line string) bool {
	return line != "" && (d.signed || strings.IndexByte(" +-", line[0]) >= 0)
}

// Render implements templ.Component. It writes the lines, each with its numbers before and after the edit.
func (d *diff) Render(ctx context.Context, w io.Writer) error {
	words := changedWords(d.lines)
	before, after := 1, 1
	var b []byte
	for i, line := range d.lines {
		sign := line[:min(len(line), 1)]
		numbers := [2]string{}
		if match := hunkHeader.FindStringSubmatch(line); match != nil && !d.signed {
			before, _ = strconv.Atoi(match[1])
			after, _ = strconv.Atoi(match[2])
		} else if sign != "\\" {
			if sign != "+" {
				numbers[0] = strconv.Itoa(before)
				before++
			}
			if sign != "-" {
				numbers[1] = strconv.Itoa(after)
				after++
			}
		}
		b = fmt.Appendf(b[:0], `<span class="diff %s" data-lines="%5s %5s ">`, diffClasses[sign], numbers[0], numbers[1])
		marker, spans, changed := marks.Of(ctx), d.colours[i], words[i]
		if changed.from < changed.to {
			b, spans = appendSpans(b, marker, line[:changed.from], spans)
			b, spans = appendSpans(append(b, `<span class="word">`...), marker, line[changed.from:changed.to], spans)
			b, line = append(b, "</span>"...), line[changed.to:]
		}
		b, _ = appendSpans(b, marker, line, spans)
		b = append(b, "\n</span>"...)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// appendSpans appends a text that begins where the spans do, and returns the spans after it. It changes spans. Text
// that no span covers is appended without colours.
func appendSpans(b []byte, marker *marks.Marker, text string, spans []highlight.Span) ([]byte, []highlight.Span) {
	for text != "" && len(spans) > 0 {
		length := min(len(text), int(spans[0].Length))
		b = appendSpan(b, marker, text[:length], spans[0].Class, false)
		text = text[length:]
		if spans[0].Length -= uint32(length); spans[0].Length == 0 {
			spans = spans[1:]
		}
	}
	return marker.Append(b, text, false), spans
}

// textRange is a part of a line, in bytes.
type textRange struct{ from, to int }

// changedWords returns, by the lines' indexes, what has changed in lines that were replaced by the same number of
// lines. It skips pairs of lines that have little in common.
func changedWords(all []string) map[int]textRange {
	words := make(map[int]textRange)
	for i := 0; i < len(all); {
		removed, rest := run(all, i, "-")
		added, end := run(all, rest, "+")
		if len(removed) > 0 && len(removed) == len(added) {
			for n, at := range removed {
				if before, after, ok := changedPart(all[at], all[added[n]]); ok {
					words[at], words[added[n]] = before, after
				}
			}
		}
		i = max(end, i+1)
	}
	return words
}

// run returns the indexes of the consecutive lines, beginning with from, that have the sign, and the index after them.
func run(all []string, from int, sign string) (indexes []int, end int) {
	for end = from; end < len(all); end++ {
		switch {
		case strings.HasPrefix(all[end], sign):
			indexes = append(indexes, end)
		case !strings.HasPrefix(all[end], "\\") || len(indexes) == 0: // skips "\ No newline at end of file"
			return indexes, end
		}
	}
	return indexes, end
}

// changedPart returns the words in which two lines of a diff differ, and reports whether the lines have more in common
// than that.
func changedPart(before, after string) (of, by textRange, ok bool) {
	shorter := min(len(before), len(after))
	first := 1 // after the sign
	for first < shorter && before[first] == after[first] {
		first++
	}
	last := 0
	for last < shorter-first && before[len(before)-1-last] == after[len(after)-1-last] {
		last++
	}
	for first > 1 && (insideWord(before, first) || insideWord(after, first)) {
		first--
	}
	for last > 0 && (insideWord(before, len(before)-last) || insideWord(after, len(after)-last)) {
		last--
	}
	of, by = textRange{first, len(before) - last}, textRange{first, len(after) - last}
	return of, by, 2*(first-1+last) > shorter && before != after
}

// insideWord reports whether the bytes before and at an index belong to the same word or character.
func insideWord(text string, at int) bool {
	if at >= len(text) || !utf8.RuneStart(text[at]) {
		return at < len(text)
	}
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	next, _ := utf8.DecodeRuneInString(text[at:])
	return wordLike(last) && wordLike(next)
}

func wordLike(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
