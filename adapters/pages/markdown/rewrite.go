package markdown

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// maxOpen bounds the depth of elements.
const maxOpen = 2 * maxNesting

// allowedElements are kept, whether goldmark or a stranger wrote them. The tags of droppedElements are left out.
// Anything else becomes text, because it is more likely a type or a placeholder, such as Vec<T> and <your name>.
var (
	allowedElements = set(`a abbr b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure
		h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre q rp rt ruby s samp small strike strong sub summary sup
		table tbody td tfoot th thead tr tt u ul var`)
	droppedElements = set(`address applet area article aside audio base basefont bdi bdo big blink body button canvas
		center col colgroup datalist dialog dir embed fieldset font footer form frame frameset g head header hgroup
		html iframe img input label legend link main map marquee math menu meta meter nav nobr object optgroup
		option output param path picture progress section select slot source span svg template time track use video
		wbr`)
	// selfEnding are elements that another one of the same name ends.
	selfEnding   = set("dd dt li p td th tr")
	voidElements = set("br hr")
)

func set(names string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		all[name] = true
	}
	return all
}

// element is an open element.
type element struct {
	name  string // in the source
	tag   string // in the result; empty: none
	after string // text to write after it
}

// IDs are those of one text or of several, such as the cells of a notebook, which have links to each other's headings.
type IDs struct {
	prefix string
	times  map[string]int // how often each is used
	texts  int
}

// NewIDs returns ids that begin with a prefix, which begins with IDPrefix.
func NewIDs(prefix string) *IDs { return &IDs{prefix: prefix, times: map[string]int{}} }

// footnote matches the ids that goldmark gives to footnotes, and to the references to them.
var footnote = regexp.MustCompile(`^fn(?:ref\d*)?:`)

// of returns what follows the prefix in an id of the current text. Each text numbers its footnotes anew.
func (i *IDs) of(id string) string {
	id = anchor(id)
	if i.texts > 1 && footnote.MatchString(id) {
		return strconv.Itoa(i.texts) + "-" + id
	}
	return id
}

// unused returns an id, with a number if it is already used.
func (i *IDs) unused(id string) string {
	for {
		n := i.times[id]
		i.times[id]++
		if n == 0 {
			return id
		}
		if candidate := id + "-" + strconv.Itoa(n); i.times[candidate] == 0 {
			i.times[candidate]++
			return candidate
		}
	}
}

// rewriter builds HTML in which each element is closed, headings have ids, and no link is broken.
type rewriter struct {
	ids     *IDs
	b       []byte
	open    []element
	heading *heading // the open one, or nil
}

type heading struct {
	before []byte // the HTML before its start tag
	id     string
	text   strings.Builder
}

// rewrite returns HTML that cannot affect the page around it, although strangers wrote some of it. It returns false if
// the nesting is too deep. It leaves harmful attributes to the policy.
func rewrite(source []byte, ids *IDs) (text string, ok bool) {
	ids.texts++
	r := rewriter{ids: ids}
	tokens := html.NewTokenizer(strings.NewReader(string(source)))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end
			r.closeTo(0)
			return string(r.b), true
		case html.TextToken:
			r.text(string(tokens.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(tokens.Raw())
			r.start(tokens.Token(), raw)
		case html.EndTagToken:
			raw := string(tokens.Raw())
			r.end(tokens.Token().Data, raw)
		}
		if len(r.open) > maxOpen {
			return "", false
		}
	}
}

func (r *rewriter) text(text string) {
	r.b = append(r.b, html.EscapeString(text)...)
	if r.heading != nil {
		r.heading.text.WriteString(text)
	}
}

func (r *rewriter) start(token html.Token, raw string) {
	switch name := token.Data; {
	case name == "img":
		r.picture(token)
	case name == "input" && attribute(token, "type") == "checkbox":
		if slices.ContainsFunc(token.Attr, func(a html.Attribute) bool { return a.Key == "checked" }) {
			r.text("☑")
		} else {
			r.text("☐")
		}
	case !allowedElements[name]:
		if !droppedElements[name] {
			r.text(raw)
		}
	case voidElements[name]:
		r.tag(name, nil)
	case name == "a":
		r.link(token)
	case level(name) > 0:
		r.closeHeading()
		r.heading = &heading{before: r.b, id: anchor(attribute(token, "id"))}
		r.b = nil
		r.open = append(r.open, element{name: name, tag: "h" + strconv.Itoa(min(level(name)+2, 6))})
	default:
		if last := len(r.open) - 1; last >= 0 && selfEnding[name] && r.open[last].name == name {
			r.closeTo(last)
		}
		r.push(element{name: name, tag: name}, token.Attr)
	}
}

// level returns the level of a heading, or 0.
func level(name string) int {
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		return int(name[1] - '0')
	}
	return 0
}

func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}

// push opens an element without an id that is already used.
func (r *rewriter) push(e element, attributes []html.Attribute) {
	attributes = slices.DeleteFunc(attributes, func(a html.Attribute) bool {
		if a.Key != "id" {
			return false
		}
		id := r.ids.of(a.Val)
		r.ids.times[id]++
		return r.ids.times[id] > 1
	})
	r.open = append(r.open, e)
	if e.tag != "" {
		r.tag(e.tag, attributes)
	}
}

// tag writes a start tag. It prefixes ids, so that they are never ids of the page.
func (r *rewriter) tag(name string, attributes []html.Attribute) {
	r.b = append(append(r.b, '<'), name...)
	for _, a := range attributes {
		if a.Key == "id" {
			a.Val = r.ids.prefix + r.ids.of(a.Val)
		}
		r.b = append(append(append(r.b, ' '), a.Key...), `="`...)
		r.b = append(append(r.b, html.EscapeString(a.Val)...), '"')
	}
	r.b = append(r.b, '>')
}

func (r *rewriter) end(name, raw string) {
	if !allowedElements[name] {
		if !droppedElements[name] {
			r.text(raw)
		}
		return
	}
	for at, e := range slices.Backward(r.open) {
		if e.name == name {
			r.closeTo(at)
			return
		}
	}
}

// closeTo closes all elements but the first ones.
func (r *rewriter) closeTo(count int) {
	for len(r.open) > count {
		last := r.open[len(r.open)-1]
		r.open = r.open[:len(r.open)-1]
		if r.heading != nil && level(last.name) > 0 {
			r.endHeading(last.tag)
			continue
		}
		if last.tag != "" {
			r.b = append(append(append(r.b, "</"...), last.tag...), '>')
		}
		if last.after != "" {
			r.text(last.after)
		}
	}
}

// closeHeading closes the open heading, as headings cannot nest.
func (r *rewriter) closeHeading() {
	for at, e := range r.open {
		if level(e.name) > 0 {
			r.closeTo(at)
			return
		}
	}
}

// endHeading writes a heading with an id and a link to it.
func (r *rewriter) endHeading(tag string) {
	h, content := r.heading, r.b
	r.heading, r.b = nil, h.before
	id := r.ids.of(h.id)
	if id == "" {
		id = slug(h.text.String())
	}
	if id == "" {
		r.tag(tag, nil)
		r.b = append(append(append(append(r.b, content...), "</"...), tag...), '>')
		return
	}
	id = r.ids.unused(id)
	r.tag(tag, []html.Attribute{{Key: "id", Val: id}})
	r.b = append(append(r.b, content...), ' ')
	r.tag("a", []html.Attribute{
		{Key: "class", Val: "anchor"}, {Key: "href", Val: "#" + r.ids.prefix + id}, {Key: "aria-label",
			Val: "Link to this heading"},
	})
	r.b = append(append(append(r.b, "#</a></"...), tag...), '>')
}

// slug returns the id of a heading with that text, as GitHub forms it.
func slug(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return '-'
		case unicode.In(c, unicode.L, unicode.N, unicode.M), c == '-', c == '_':
			return unicode.ToLower(c)
		}
		return -1
	}, strings.TrimSpace(text))
}

// anchor returns an id of the source without forbidden characters.
func anchor(id string) string {
	return strings.Map(func(c rune) rune {
		if unicode.In(c, unicode.L, unicode.N, unicode.M) || strings.ContainsRune("-_:.", c) {
			return unicode.ToLower(c)
		}
		return -1
	}, id)
}

// target says where a link leads.
type target int

const (
	nowhere   target = iota // an address to which a page must not link, such as a script
	elsewhere               // another site, or a mail address
	here                    // a part of this text
	beside                  // a file beside this one, which is not in the paste
)

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// targetOf returns where an address leads, and the address in the result.
func (r *rewriter) targetOf(address string) (target, string) {
	switch name := strings.ToLower(scheme.FindString(address)); {
	case address == "":
		return nowhere, ""
	case slices.Contains([]string{"http:", "https:", "mailto:"}, name):
		return elsewhere, address
	case name != "":
		return nowhere, ""
	case address[0] == '#':
		fragment, err := url.PathUnescape(address[1:])
		if err != nil {
			fragment = address[1:]
		}
		return here, "#" + r.ids.prefix + r.ids.of(fragment)
	}
	return beside, address
}

// link opens a link. A link to a file beside this one becomes text with the address.
func (r *rewriter) link(token html.Token) {
	if at := r.openLink(); at >= 0 { // links cannot nest
		r.closeTo(at)
	}
	switch leads, address := r.targetOf(attribute(token, "href")); leads {
	case elsewhere, here:
		attributes := []html.Attribute{{Key: "href", Val: address}}
		if title := attribute(token, "title"); title != "" {
			attributes = append(attributes, html.Attribute{Key: "title", Val: title})
		}
		if id := attribute(token, "id"); id != "" { // a footnote has some
			attributes = append(attributes, html.Attribute{Key: "id", Val: id})
		}
		r.push(element{name: "a", tag: "a"}, attributes)
	case beside:
		r.push(element{name: "a", after: " (" + address + ")"}, nil)
	case nowhere:
		if id := cmp.Or(attribute(token, "id"), attribute(token, "name")); id != "" {
			r.push(element{name: "a", tag: "span"}, []html.Attribute{{Key: "id", Val: id}})
		} else {
			r.push(element{name: "a"}, nil)
		}
	}
}

// openLink returns the index of the open link, or -1.
func (r *rewriter) openLink() int {
	return slices.IndexFunc(r.open, func(e element) bool { return e.name == "a" })
}

// picture writes a link in place of a picture, which would tell another site who reads.
func (r *rewriter) picture(token html.Token) {
	leads, address := r.targetOf(attribute(token, "src"))
	alt := attribute(token, "alt")
	switch at := r.openLink(); {
	case at >= 0 && r.open[at].tag == "a":
		r.text(cmp.Or(alt, "picture"))
	case leads == elsewhere:
		attributes := []html.Attribute{{Key: "href", Val: address}}
		if title := attribute(token, "title"); title != "" {
			attributes = append(attributes, html.Attribute{Key: "title", Val: title})
		}
		r.tag("a", attributes)
		r.text(cmp.Or(alt, address))
		r.b = append(r.b, "</a>"...)
	case leads == beside:
		r.text(strings.TrimSpace(alt + " (" + address + ")"))
	default:
		r.text(alt)
	}
}
