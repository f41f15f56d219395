package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/domain/ident"
)

// paste has the fields of a server's answer that are used here.
type paste struct {
	ID        string  `json:"_id"`
	Title     string  `json:"title"`
	CreatedAt int64   `json:"createdAt"` // here and below, seconds since 1970
	DeletesAt int64   `json:"deletesAt"` // 0: never
	IsPrivate bool    `json:"isPrivate"`
	IsPublic  bool    `json:"isPublic"`
	Pasties   pasties `json:"pasties"`
}

// pasties are the pasties of a paste. Decoding fails for more than any server stores: an element of three bytes takes
// 64 bytes of memory.
type pasties []pasty

const maxPasties = 1 << 16

var errArray = errors.New("a value is not an array, contains null, or is too long")

// UnmarshalJSON implements json.Unmarshaler.
func (p *pasties) UnmarshalJSON(text []byte) (err error) {
	*p, err = decodeArray[pasty](text, maxPasties)
	return err
}

// decodeArray decodes an array of at most that many elements, none of them null. For null it returns nil.
func decodeArray[T any](text []byte, most int) ([]T, error) {
	array := json.NewDecoder(bytes.NewReader(text))
	switch begin, err := array.Token(); {
	case err != nil || begin == nil:
		return nil, err
	case begin != json.Delim('['):
		return nil, errArray
	}
	decoded := []T{}
	for array.More() {
		var element *T
		if err := array.Decode(&element); err != nil {
			return nil, err
		}
		if element == nil || len(decoded) == most {
			return nil, errArray
		}
		decoded = append(decoded, *element)
	}
	return decoded, nil
}

type pasty struct {
	ID       string `json:"_id,omitempty"`
	Title    string `json:"title"`
	Language string `json:"language,omitempty"`
	Code     string `json:"code"`
}

// read returns the paste with that id.
func (s *server) read(ctx context.Context, id string) (p paste, err error) {
	_, err = s.do(ctx, http.MethodGet, "/paste/"+url.PathEscape(id), &p)
	if err == nil && p.ID == "" {
		err = s.noPaste()
	}
	return p, err
}

// target returns the server and the id of a paste, given by its id or a link. For a link to another server it uses the
// token stored for that server, if any.
func (c *Commands) target(flag, target string) (*server, string, error) {
	link, err := url.Parse(target)
	if err != nil || link.Host == "" {
		if target, _, _ = strings.Cut(target, "#"); !ident.Valid(target) { // the fragment may be a key
			return nil, "", command.Usage("%s is neither a paste id nor a link to a paste", command.Quote(target))
		}
		s, err := c.server(flag)
		return s, target, err
	}
	if flag != "" {
		return nil, "", command.Usage("the link already names the server: leave out --server")
	}
	base, id := split(link.Path)
	linked, err := parseServer((&url.URL{Scheme: link.Scheme, Host: link.Host, Path: base}).String())
	s, noDefault := c.server("")
	isDefault := err == nil && noDefault == nil && s.base.Host == linked.base.Host && s.base.Scheme == linked.base.Scheme
	if isDefault {
		if rest, below := strings.CutPrefix(link.Path, s.base.Path+"/"); below {
			_, id = split(rest)
		}
	}
	switch {
	case !ident.Valid(id) || link.User != nil:
		return nil, "", command.Usage("not a link to a paste, such as https://paste.example/k3j2h1g0")
	case err != nil:
		return nil, "", err
	case isDefault:
		return s, id, nil
	}
	linked.token, err = load(linked.pathOf("token"))
	return linked, id, err
}

// generated are the ids that servers choose.
var generated = regexp.MustCompile(`^[a-z0-9]{8}$`)

// split returns the base path and the id in the path of a paste's page or endpoint. Servers may be below a path.
func split(path string) (base, id string) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	below := func(n int) string { return strings.Join(append([]string{""}, segments[:n]...), "/") }
	for i, segment := range segments {
		if i+1 < len(segments) && (segment == "paste" || segment == "raw") {
			return below(i), segments[i+1]
		}
		if generated.MatchString(segment) {
			return below(i), segment
		}
	}
	return "", segments[0]
}
