package template

import (
	"fmt"
	"html/template"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// escaper returns a value as it may stand at one place of HTML.
type escaper func(value reflect.Value) string

// place is where in HTML a template has come to. The zero value is text, where elements may stand.
type place struct {
	in        region
	element   string // whose tag it is in, or whose content
	attribute string // whose value it is in
	name      string // how the name of an element or attribute begins
	quote     byte   // around the value
	link      linkPart
}

type region int

const (
	inText  region = iota
	inRaw          // in an element that ends with its tag alone
	inTag          // between attributes, or in the name of one
	inName         // in the name of an element
	inValue        // in a quoted value of an attribute
	inComment
)

// linkPart is where a value that is a URL has come to.
type linkPart int

const (
	linkStart linkPart = iota
	linkPath           // of this server
	linkQuery          // or fragment
	linkOther          // nothing may follow but text
)

// unknown is a name that depends on values.
const unknown = "?"

// raw are the elements whose content is no elements, and whether it is text.
var raw = map[string]bool{"title": true, "textarea": true, "script": false, "style": false}

// links are the attributes that are URLs.
var links = map[string]bool{"href": true, "src": true, "action": true, "formaction": true}

// plain are those that are text; beside them all that begin with "aria-".
var plain = map[string]bool{
	"alt": true, "class": true, "content": true, "datetime": true, "for": true, "height": true, "id": true, "label": true, "lang": true,
	"max": true, "maxlength": true, "min": true, "name": true, "placeholder": true, "property": true, "rows": true, "size": true,
	"title": true, "value": true, "width": true,
}

// contextualize finds out where in HTML each value of a template stands. A template begins and ends in text.
func (t *Template) contextualize(tree *parse.Tree) error {
	end, err := t.follow(place{}, tree.Root)
	if err == nil && end != (place{}) {
		err = fmt.Errorf("it ends inside %s", end)
	}
	if err != nil {
		return fmt.Errorf("template %s: %w", tree.Name, err)
	}
	return nil
}

// follow goes through a list from a place, and returns the one where it ends.
func (t *Template) follow(at place, list *parse.ListNode) (place, error) {
	if list == nil {
		return at, nil
	}
	var err error
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.TextNode:
			at, err = at.after(string(node.Text))
		case *parse.ActionNode:
			if len(node.Pipe.Decl) == 0 {
				t.escapers[node], err = at.escaper()
				if at.in == inValue && at.link == linkStart {
					at.link = linkOther
				}
			}
		case *parse.IfNode:
			at, err = t.both(at, &node.BranchNode)
		case *parse.WithNode:
			at, err = t.both(at, &node.BranchNode)
		case *parse.RangeNode:
			at, err = t.both(at, &node.BranchNode)
		case *parse.TemplateNode:
			if at != (place{}) {
				err = fmt.Errorf("{{template}} inside %s", at)
			}
		default:
			err = fmt.Errorf("%s is not known here", node)
		}
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// both follows both ways that a template may go.
func (t *Template) both(at place, node *parse.BranchNode) (place, error) {
	one, err := t.follow(at, node.List)
	if err != nil {
		return at, err
	}
	other, err := t.follow(at, node.ElseList)
	if err != nil {
		return at, err
	}
	if one.name != other.name {
		one.name, other.name = unknown, unknown
	}
	if one.link != other.link {
		one.link, other.link = linkOther, linkOther
	}
	if one != other {
		return at, fmt.Errorf("one way of %s ends inside %s, the other one inside %s", node.Pipe, one, other)
	}
	return one, nil
}

// String says what it is inside of.
func (p place) String() string {
	switch p.in {
	case inRaw:
		return "<" + p.element + ">"
	case inTag, inName:
		return "the tag of " + p.element
	case inValue:
		return "the attribute " + p.attribute
	case inComment:
		return "a comment"
	}
	return "text"
}

// after returns the place after some text of a template.
func (p place) after(text string) (place, error) {
	for i := 0; i < len(text); i++ {
		c, rest := text[i], text[i:]
		switch p.in {
		case inText:
			if strings.HasPrefix(rest, "<!--") {
				p.in = inComment
			} else if c == '<' {
				p.in, p.name = inName, ""
			}
		case inRaw:
			if end := "</" + p.element; len(rest) > len(end) && strings.EqualFold(rest[:len(end)], end) {
				p.in, p.name, p.element = inTag, "", "/"+p.element
				i += len(end) - 1
			}
		case inName:
			if !space(c) && c != '>' {
				p.name += strings.ToLower(rest[:1])
				continue
			}
			p.in, p.element, p.name = inTag, p.name, ""
			if c == '>' {
				p = p.closed()
			}
		case inTag:
			switch {
			case c == '>':
				p = p.closed()
			case c == '=':
				if i+1 == len(text) || text[i+1] != '"' && text[i+1] != '\'' {
					return p, fmt.Errorf("the value of %s is not in quotes", p.name)
				}
				i++
				p.in, p.attribute, p.quote, p.name = inValue, p.name, text[i], ""
				if !links[p.attribute] {
					p.link = linkOther
				}
			case space(c):
				p.name = ""
			default:
				p.name += strings.ToLower(rest[:1])
			}
		case inValue:
			if c == p.quote {
				p.in, p.attribute, p.quote, p.link = inTag, "", 0, linkStart
			} else {
				p.link = p.link.after(c)
			}
		case inComment:
			if strings.HasPrefix(rest, "-->") {
				p = place{}
				i += 2
			}
		}
	}
	return p, nil
}

func (l linkPart) after(c byte) linkPart {
	switch {
	case l == linkOther:
		return linkOther
	case c == '#' || c == '?':
		return linkQuery
	case l == linkStart && c == '/':
		return linkPath
	case l == linkStart:
		return linkOther
	}
	return l
}

// closed returns the place after the end of a tag.
func (p place) closed() place {
	if _, ok := raw[p.element]; ok {
		return place{in: inRaw, element: p.element}
	}
	return place{}
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// escaper returns what a value that stands there needs.
func (p place) escaper() (escaper, error) {
	switch {
	case p.in == inText:
		return textOrHTML, nil
	case p.in == inRaw && raw[p.element]:
		return escaped, nil
	case p.in == inValue && p.link == linkStart:
		return wholeLink, nil
	case p.in == inValue && p.link == linkPath:
		return partOfPath, nil
	case p.in == inValue && p.link == linkQuery:
		return partOfQuery, nil
	case p.in == inValue && (plain[p.attribute] || strings.HasPrefix(p.attribute, "aria-")):
		return escaped, nil
	}
	return nil, fmt.Errorf("a value stands inside %s; it may be in text, in links, and in the attributes %s",
		p, strings.Join(slices.Sorted(maps.Keys(plain)), ", "))
}

// text returns a value as text.
func text(value reflect.Value) string { return fmt.Sprint(printable(value)) }

func textOrHTML(value reflect.Value) string {
	if made, ok := printable(value).(template.HTML); ok {
		return string(made)
	}
	return escapeText.Replace(text(value))
}

func escaped(value reflect.Value) string {
	if _, ok := printable(value).(template.HTML); ok {
		fail("HTML stands where elements may not")
	}
	return escapeText.Replace(text(value))
}

// The same that html/template writes.
var escapeText = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// wholeLink allows URLs without a scheme, or of one that does not run anything.
func wholeLink(value reflect.Value) string {
	scheme, _, ok := strings.Cut(text(value), ":")
	if ok && !strings.Contains(scheme, "/") && !slices.Contains([]string{"http", "https", "mailto"}, strings.ToLower(scheme)) {
		return "#ZgotmplZ" // what html/template puts in its place
	}
	return partOfPath(value)
}

// partOfPath keeps what has a meaning in URLs.
func partOfPath(value reflect.Value) string {
	return escapeText.Replace(percent(text(value), "!#$&*+,/:;=?@[]-._~"))
}

func partOfQuery(value reflect.Value) string { return percent(text(value), "-._~") }

// percent encodes all bytes but ASCII letters, digits and those kept. Where URLs are kept, so is what is encoded already.
func percent(text, kept string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(kept, c) >= 0:
			b.WriteByte(c)
		case c == '%' && strings.Contains(kept, "/") && i+2 < len(text) && hex(text[i+1]) && hex(text[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
