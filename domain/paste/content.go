package paste

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/token"
)

// Limits of titles, in characters.
const (
	MaxTitle      = 1024
	MaxPastyTitle = 4096
)

// Content is the content of a paste. All text is valid UTF-8 and may contain U+0000. Imported content can break all
// other rules: it may have unknown languages, titles and tags of any length, and CRLF in code.
type Content struct {
	Title      string
	Visibility Visibility
	Tags       []string // without duplicates, in byte order
	Lifetime   Lifetime // as requested
	Pasties    []Pasty
	Edits      []Edit // oldest first
	Origin     ID     // the paste that it is a fork of, which may be gone; empty: none
	Cipher     *Cipher
}

// Cipher is the content of an encrypted paste, instead of title, pasties and edits. The server cannot decrypt it.
type Cipher struct {
	Version         int // of the format; 0: PasteMyst's, which readers do not get
	Data, Key, Salt []byte
}

// CipherVersion is the version of the format that clients write (docs/encryption.md). Data is a nonce and the
// ciphertext. There is a Salt if there is a password.
const CipherVersion = 1

// Lengths in the format, in bytes.
const (
	nonceLength = 12
	authLength  = 16
	saltLength  = 16
)

// validate returns a fault.Invalid that names the first field that breaks the format.
func (c *Cipher) validate(limit int) error {
	switch {
	case c.Version != CipherVersion:
		return invalid("version", "this server knows version %d.", CipherVersion)
	case len(c.Data) <= nonceLength+authLength:
		return invalid("cipher", "it is too short to hold a nonce, the ciphertext and its tag.")
	case len(c.Data) > limit:
		return invalid("cipher", "it must have at most %d bytes.", limit)
	case len(c.Salt) != 0 && len(c.Salt) != saltLength:
		return invalid("salt", "it must have %d bytes, or be left out.", saltLength)
	}
	return nil
}

// Equal reports whether both are nil or equal.
func (c *Cipher) Equal(other *Cipher) bool {
	if c == nil || other == nil {
		return c == other
	}
	return c.Version == other.Version && bytes.Equal(c.Data, other.Data) && bytes.Equal(c.Key, other.Key) &&
		bytes.Equal(c.Salt, other.Salt)
}

// Pasty is one text of a paste.
type Pasty struct {
	ID       string
	Title    string
	Language string // in the catalogue's spelling
	Code     string
}

// Encrypted reports whether the content is a cipher: such a paste can be deleted, but neither read nor edited here.
func (c Content) Encrypted() bool { return c.Cipher != nil }

// Bytes returns the size of content and history.
func (c Content) Bytes() int64 { return c.ContentBytes() + c.HistoryBytes() }

// ContentBytes returns the size of titles, tags and code, or of the cipher.
func (c Content) ContentBytes() int64 {
	length := len(c.Title) + size(c.Pasties)
	for _, tag := range c.Tags {
		length += len(tag)
	}
	if c.Cipher != nil {
		length += len(c.Cipher.Data) + len(c.Cipher.Key) + len(c.Cipher.Salt)
	}
	return int64(length)
}

// HistoryBytes returns the size of the edits.
func (c Content) HistoryBytes() (length int64) {
	for _, e := range c.Edits {
		length += int64(e.size())
	}
	return length
}

// Pasty returns the pasty with that id, or ErrNotFound.
func (c Content) Pasty(id string) (Pasty, error) {
	for _, p := range c.Pasties {
		if p.ID == id {
			return p, nil
		}
	}
	return Pasty{}, ErrNotFound
}

// PastyOrFirst is Pasty, but returns the first pasty if id is empty.
func (c Content) PastyOrFirst(id string) (Pasty, error) {
	if id == "" && len(c.Pasties) > 0 {
		return c.Pasties[0], nil
	}
	return c.Pasty(id)
}

// Limits bound the content of one paste.
type Limits struct {
	Pasties      int // number of pasties
	Edits        int // number of edits; the oldest are dropped
	ContentBytes int // total size of the pasties' titles and code
	HistoryBytes int // total size of the edits; the oldest are dropped
}

// DefaultLimits returns the limits of an installation that sets none.
func DefaultLimits() Limits {
	return Limits{Pasties: 1000, Edits: 1000, ContentBytes: 16 << 20, HistoryBytes: 32 << 20}
}

// LanguageResolver returns a language's name in the catalogue's spelling. It looks choice up as a name, alias or
// extension, ignoring case. For Autodetect it detects the language from the title and the code. It returns false when
// there is no such language, or none can be detected.
type LanguageResolver func(choice, title, code string) (string, bool)

// Autodetect is what a client sends for a language that it does not know. It is never stored.
const Autodetect = "Autodetect"

// Rules create and change pastes.
type Rules struct {
	Limits   Limits
	NewID    func() string // for pasties and edits, such as ident.New
	Language LanguageResolver
	Diff     Differ
}

// Draft is a paste to be created.
type Draft struct {
	Title     string
	Private   bool
	Public    bool
	Tags      []string // each is split at commas
	Lifetime  *string  // nil: Never
	Burns     bool     // after reading
	Encrypted bool
	Origin    ID // the paste that it is a fork of; empty: none
	Pasties   []PastyDraft
	Cipher    *Cipher // instead of title, tags and pasties; nil: the paste is not encrypted
	UnixLines bool    // convert CRLF in code to LF, as PasteMyst does; otherwise keep code byte for byte
}

// PastyDraft is a pasty to be created.
type PastyDraft struct {
	Title    string
	Language *string // nil: Autodetect
	Default  string  // the language if none can be detected; empty or unknown: plain text
	Code     *string // nil: missing
	Label    string  // its name in errors; empty: its position, such as pasties[0]
	Alone    bool    // it was not sent in a list: errors name its fields only
}

// Create returns a paste made from the draft, without id and owner. Its time of creation is now, truncated to
// microseconds, which all stores keep.
//
// It fails with token.ErrRejected when signedIn is false and the draft is private, public or tagged, since only a paste
// with an owner can be so. It fails with a fault.Invalid that names the first field that breaks a rule.
func (r Rules) Create(draft Draft, signedIn bool, now time.Time) (Document, error) {
	tags, errTags := ParseTags(draft.Tags...)
	if !signedIn && (draft.Private || draft.Public || len(tags) > 0 || errTags != nil) {
		return Document{}, token.ErrRejected
	}
	if draft.Encrypted {
		return Document{}, invalid("encrypted",
			"this server cannot encrypt a paste. Encrypt it before you send it, or leave this field out.")
	}
	if err := checkText("title", draft.Title, MaxTitle); err != nil {
		return Document{}, err
	}
	var err error
	lifetime := Never
	if draft.Lifetime != nil {
		if lifetime, err = ParseLifetime(*draft.Lifetime); err != nil {
			return Document{}, err
		}
	}
	if draft.Origin != "" && !ident.Valid(string(draft.Origin)) {
		return Document{}, invalid("origin", "it must be the id of a paste.")
	}
	visibility, err := visibilityOf(draft.Private, draft.Public, draft.Burns)
	if err != nil {
		return Document{}, err
	}
	if errTags != nil {
		return Document{}, errTags
	}
	now = now.Truncate(time.Microsecond)
	document := Document{
		Paste:   Paste{CreatedAt: now, ExpiresAt: lifetime.End(now), Burns: draft.Burns},
		Content: Content{Title: draft.Title, Visibility: visibility, Tags: tags, Lifetime: lifetime, Origin: draft.Origin},
	}
	if draft.Cipher != nil {
		if visibility == Public {
			return Document{}, invalid("isPrivate, isPublic", "an encrypted paste cannot be public.")
		}
		document.Cipher = draft.Cipher
		return document, draft.Cipher.validate(r.Limits.ContentBytes)
	}
	if len(draft.Pasties) == 0 {
		return Document{}, invalid("pasties", "a paste needs at least one pasty.")
	}
	if err := r.checkNumber(len(draft.Pasties)); err != nil {
		return Document{}, err
	}
	for i, item := range draft.Pasties {
		values := PastyChanges{Title: &item.Title, Language: item.Language, Code: item.Code, unixLines: draft.UnixLines}
		pasty, err := r.newPasty(place{i, item.Label, item.Alone}, values, item.Default)
		if err != nil {
			return Document{}, err
		}
		document.Pasties = append(document.Pasties, pasty)
	}
	if err := r.checkSize(document.Pasties, 0); err != nil {
		return Document{}, err
	}
	return document, nil
}

// newPasty returns the new pasty at that place of a request. Its language is fallback if none can be detected.
func (r Rules) newPasty(at place, changes PastyChanges, fallback string) (Pasty, error) {
	if changes.Language == nil {
		changes.Language = new(Autodetect)
	}
	created, err := r.pasty(at, Pasty{}, changes, fallback)
	created.ID = r.NewID()
	return created, err
}

// pasty returns the pasty with the changes applied. A pasty without an id is new. It validates changed values only.
func (r Rules) pasty(at place, p Pasty, changes PastyChanges, fallback string) (Pasty, error) {
	if changes.Title != nil && *changes.Title != p.Title {
		if err := checkText(at.field("title"), *changes.Title, MaxPastyTitle); err != nil {
			return Pasty{}, err
		}
		p.Title = *changes.Title
	}
	if changes.Code == nil && p.ID == "" {
		return Pasty{}, invalid(at.field("code"), "it is required.")
	}
	if changes.Code != nil && *changes.Code != p.Code {
		if !utf8.ValidString(*changes.Code) {
			return Pasty{}, invalid(at.field("code"), "it must be valid UTF-8.")
		}
		p.Code = *changes.Code
		if changes.unixLines {
			p.Code = strings.ReplaceAll(p.Code, "\r\n", "\n")
		}
	}
	if changes.Language != nil && (*changes.Language != p.Language || p.ID == "") {
		language, err := r.language(at, *changes.Language, fallback, p.Title, p.Code)
		if err != nil {
			return Pasty{}, err
		}
		p.Language = language
	}
	return p, nil
}

func (r Rules) language(at place, choice, fallback, title, code string) (string, error) {
	if name, ok := r.Language(choice, title, code); ok {
		return name, nil
	}
	if !strings.EqualFold(choice, Autodetect) {
		return "", invalid(at.field("language"), "no language has that name. Leave it out to have the language detected.")
	}
	if name, ok := r.Language(fallback, title, code); ok {
		return name, nil
	}
	return language.PlainText, nil
}

func (r Rules) checkNumber(pasties int) error {
	if pasties > r.Limits.Pasties {
		return invalid("pasties", "there may be at most %d.", r.Limits.Pasties)
	}
	return nil
}

// checkSize fails when the pasties have grown beyond the limit. before is their size before the change.
func (r Rules) checkSize(pasties []Pasty, before int) error {
	if size := size(pasties); size > r.Limits.ContentBytes && size > before {
		return invalid("pasties", "together they must have at most %d bytes.", r.Limits.ContentBytes)
	}
	return nil
}

func size(pasties []Pasty) (length int) {
	for _, p := range pasties {
		length += len(p.Title) + len(p.Code)
	}
	return length
}

func checkText(name, text string, limit int) error {
	switch {
	case !utf8.ValidString(text):
		return invalid(name, "it must be valid UTF-8.")
	case len(text) > limit && utf8.RuneCountInString(text) > limit:
		return invalid(name, "it must have at most %d characters.", limit)
	}
	return nil
}

// FieldOf returns how errors name a field of the pasty with that label (see PastyDraft).
func FieldOf(name, label string) string { return name + " of " + label }

// place is the position of a pasty in a request.
type place struct {
	index int
	label string // the sender's name for it, or ""
	alone bool   // it was not sent in a list
}

// field returns how errors name a field of the pasty.
func (p place) field(name string) string {
	switch {
	case p.alone:
		return name
	case p.label != "":
		return FieldOf(name, p.label)
	}
	return fmt.Sprintf("pasties[%d].%s", p.index, name)
}

func invalid(field, format string, values ...any) error {
	return fault.InvalidField(field, fmt.Sprintf(format, values...))
}

// Limits of a paste's tags.
const (
	MaxTags      = 100
	MaxTagLength = 100 // characters
)

// ParseTags splits the texts at commas. It trims and sorts the tags, and drops empty ones and duplicates. It fails with
// a fault.Invalid when there are more than MaxTags, or one is longer than MaxTagLength or not valid UTF-8.
func ParseTags(texts ...string) ([]string, error) {
	tags, fit := splitTags(texts, MaxTags)
	if !fit {
		return nil, invalid("tags", "there may be at most %d.", MaxTags)
	}
	for _, tag := range tags {
		if err := checkText("tags", tag, MaxTagLength); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

// splitTags is ParseTags with the given limit on their number and none on their length. It stops at the first tag
// beyond the limit.
func splitTags(texts []string, limit int) (tags []string, fit bool) {
	seen := make(map[string]bool)
	for _, text := range texts {
		for tag := range strings.SplitSeq(text, ",") {
			if tag = strings.TrimSpace(tag); tag == "" || seen[tag] {
				continue
			}
			if len(tags) == limit {
				return nil, false
			}
			tags, seen[tag] = append(tags, tag), true
		}
	}
	slices.Sort(tags)
	return tags, true
}

// sameTags reports whether the texts have the stored tags, which may be more than MaxTags after an import.
func sameTags(texts, stored []string) bool {
	before, _ := splitTags(stored, math.MaxInt)
	tags, fit := splitTags(texts, len(before))
	return fit && slices.Equal(tags, before)
}
