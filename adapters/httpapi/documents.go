package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/paste"
)

func (a *API) createPaste(ctx context.Context, c *gin.Context, sent *body) (*longAnswer, error) {
	secret := presentedToken(c)
	draft, err := decodeDraft(sent)
	if err != nil {
		return nil, a.modules.Pastes.CreateOwn.Refuse(ctx, secret, err)
	}
	return a.create(ctx, c, draft)
}

func (a *API) create(ctx context.Context, c *gin.Context, draft paste.Draft) (*longAnswer, error) {
	made, err := a.modules.Pastes.CreateOwn.Do(ctx, a.visitor(c), draft)
	if err != nil {
		return nil, err
	}
	tellUsage(c.Writer.Header(), made.Usage)
	return a.encodePaste(&made.Document)
}

func (a *API) editPaste(ctx context.Context, c *gin.Context, sent *body) (*longAnswer, error) {
	secret, id := presentedToken(c), c.Param("id")
	changes, err := decodeChanges(sent)
	if err != nil {
		return nil, a.modules.Pastes.EditOwn.Refuse(ctx, secret, id, err)
	}
	edited, err := a.modules.Pastes.EditOwn.Do(ctx, secret, id, changes)
	if err != nil {
		return nil, err
	}
	return a.encodePaste(&edited)
}

var emptyObject = []byte("{}")

func (a *API) deletePaste(ctx context.Context, c *gin.Context) error {
	if err := a.modules.Pastes.DeleteOwn.Do(ctx, presentedToken(c), c.Param("id")); err != nil {
		return err
	}
	writeJSON(c, emptyObject) // clients fail on an answer without a body
	return nil
}

func (a *API) readPaste(ctx context.Context, c *gin.Context) error {
	secret := personal(c)
	found, rejected, err := a.modules.Pastes.Read.Do(ctx, secret, c.Param("id"))
	a.limits.noteRejected(c, rejected)
	if err != nil {
		return err
	}
	answer := a.newLongAnswer(c.Request.Method == http.MethodHead)
	defer answer.release()
	answer.tagged = secret == ""
	if err := answer.appendPaste(&found); err != nil {
		return err
	}
	return answer.sendUnlessKnown(c, jsonContentType)
}

var varyAuthorization = []string{"Authorization"}

// personal returns the token that a paste is asked for with: the answer depends on it, and with one is nobody else's.
func personal(c *gin.Context) (secret string) {
	header := c.Writer.Header()
	header["Vary"] = varyAuthorization
	if secret = presentedToken(c); secret != "" {
		header["Cache-Control"] = privateHeader
	}
	return secret
}

// sendUnlessKnown is send, or answers 304 when the answer is tagged and the client has it already.
func (l *longAnswer) sendUnlessKnown(c *gin.Context, contentType []string) error {
	if !l.tagged {
		return l.send(c, contentType)
	}
	etag, err := l.etag()
	if err != nil {
		return err
	}
	c.Writer.Header()["Etag"] = []string{etag}
	if !matchesETag(c.Request.Header["If-None-Match"], etag) {
		return l.send(c, contentType)
	}
	c.Writer.Header()["Cache-Control"] = noCache
	notModified(c)
	return nil
}

// decodeDraft reads a paste to create. It fails with a fault.Invalid.
func decodeDraft(sent *body) (draft paste.Draft, err error) {
	var encrypted [2]*bool
	var private, public *bool
	var title *string
	err = decode(sent, func(d *decoder, name string) (err error) {
		switch name {
		case "title":
			title, err = d.text(name)
		case "expiresIn":
			draft.Lifetime, err = d.text(name)
		case "isPrivate":
			private, err = d.boolean(name)
		case "isPublic":
			public, err = d.boolean(name)
		case "encrypted":
			encrypted[0], err = d.boolean(name)
		case "encrypt":
			encrypted[1], err = d.boolean(name)
		case "tags":
			draft.Tags, err = d.texts(name)
		case "pasties":
			draft.Pasties = nil
			err = d.array(name, func(i int) error {
				pasty, err := d.pastyDraft(i)
				draft.Pasties = append(draft.Pasties, pasty)
				return err
			})
		default:
			err = d.skip()
		}
		return err
	})
	draft.Title = value(title)
	draft.Private, draft.Public = value(private), value(public)
	draft.Encrypted = value(encrypted[0]) || value(encrypted[1])
	return draft, err
}

// value returns what is there, or zero.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (d *decoder) pastyDraft(i int) (pasty paste.PastyDraft, err error) {
	var title *string
	element := fmt.Sprintf("pasties[%d]", i)
	err = d.object(element, func(name string) error {
		return d.pastyField(element, name, &title, &pasty.Language, &pasty.Code)
	})
	pasty.Title = value(title)
	return pasty, err
}

// pastyField reads a field that a pasty has, whether it is created or changed, and passes over any other.
func (d *decoder) pastyField(element, name string, title, language, code **string) (err error) {
	switch name {
	case "title":
		*title, err = d.text(element + ".title")
	case "language":
		*language, err = d.text(element + ".language")
	case "code":
		*code, err = d.text(element + ".code")
	default:
		err = d.skip()
	}
	return err
}

// decodeChanges reads what to change of a paste; clients may send all of the paste back. It fails with a fault.Invalid.
func decodeChanges(sent *body) (changes paste.Changes, err error) {
	err = decode(sent, func(d *decoder, name string) (err error) {
		switch name {
		case "title":
			changes.Title, err = d.text(name)
		case "isPrivate":
			changes.Private, err = d.boolean(name)
		case "isPublic":
			changes.Public, err = d.boolean(name)
		case "tags":
			changes.Tags, err = d.texts(name)
		case "pasties":
			changes.Pasties = nil
			err = d.array(name, func(i int) error {
				pasty, err := d.pastyChanges(i)
				changes.Pasties = append(changes.Pasties, pasty)
				return err
			})
		default:
			err = d.skip()
		}
		return err
	})
	return changes, err
}

func (d *decoder) pastyChanges(i int) (pasty paste.PastyChanges, err error) {
	var id *string
	element := fmt.Sprintf("pasties[%d]", i)
	err = d.object(element, func(name string) (err error) {
		if name == "_id" {
			id, err = d.text(element + "._id")
			return err
		}
		return d.pastyField(element, name, &pasty.Title, &pasty.Language, &pasty.Code)
	})
	pasty.ID = value(id)
	return pasty, err
}

// encodePaste returns an answer that has the paste.
func (a *API) encodePaste(d *paste.Document) (*longAnswer, error) {
	answer := a.newLongAnswer(false)
	if err := answer.appendPaste(d); err != nil {
		answer.release()
		return nil, err
	}
	return answer, nil
}

// appendPaste appends the paste piece by piece: encoding/json would hold all of it in memory, several times.
func (l *longAnswer) appendPaste(d *paste.Document) error {
	w := pasteWriter{longAnswer: l}
	w.paste(d)
	return w.err
}

// pasteWriter writes the fields that the v2 API has, and no others: strict clients fail. Nothing is null.
type pasteWriter struct {
	*longAnswer

	err error // the first
}

func (w *pasteWriter) paste(d *paste.Document) {
	w.field(`{"_id":`, string(d.ID))
	w.field(`,"ownerId":`, string(d.Owner))
	w.field(`,"title":`, d.Title)
	w.number(`,"createdAt":`, d.CreatedAt.Unix())
	w.field(`,"expiresIn":`, string(d.ExpiresIn()))
	w.number(`,"deletesAt":`, d.DeletesAt())
	w.number(`,"stars":`, d.Stars)
	w.boolean(`,"isPrivate":`, d.Visibility == paste.Private)
	w.boolean(`,"isPublic":`, d.Visibility == paste.Public)
	w.fields(`,"tags":`, d.Tags)
	w.boolean(`,"encrypted":`, d.Encrypted())
	w.raw(`,"pasties":[`)
	for i, p := range d.Pasties {
		w.comma(i)
		w.field(`{"_id":`, p.ID)
		w.field(`,"language":`, p.Language)
		w.field(`,"title":`, p.Title)
		w.field(`,"code":`, p.Code)
		w.raw(`}`)
	}
	w.raw(`],"edits":[`)
	for i, e := range d.Edits {
		w.comma(i)
		w.field(`{"_id":`, e.ID)
		w.number(`,"editId":`, e.Number)
		w.number(`,"editType":`, int64(e.Type))
		w.fields(`,"metadata":`, e.Metadata)
		w.field(`,"edit":`, e.Text)
		w.number(`,"editedAt":`, e.At.Unix())
		w.raw(`}`)
	}
	w.raw(`]}`)
}

func (w *pasteWriter) raw(text string) {
	if w.err == nil {
		w.text.WriteString(text)
		w.err = w.spill()
	}
}

func (w *pasteWriter) comma(i int) {
	if i > 0 {
		w.raw(",")
	}
}

func (w *pasteWriter) number(name string, n int64) {
	w.raw(name)
	w.text.Write(strconv.AppendInt(w.text.AvailableBuffer(), n, 10))
}

func (w *pasteWriter) boolean(name string, b bool) {
	w.raw(name)
	w.raw(strconv.FormatBool(b))
}

func (w *pasteWriter) fields(name string, texts []string) {
	w.raw(name)
	w.raw("[")
	for i, text := range texts {
		w.comma(i)
		w.field("", text)
	}
	w.raw("]")
}

// pieceLength is how much of a text is encoded at once, in bytes.
const pieceLength = 8 << 10

func (w *pasteWriter) field(name, text string) {
	w.raw(name)
	w.raw(`"`)
	for len(text) > pieceLength {
		end := pieceLength
		for end > pieceLength-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		w.piece(text[:end])
		text = text[end:]
	}
	w.piece(text)
	w.raw(`"`)
}

func (w *pasteWriter) piece(text string) {
	if w.err == nil {
		w.appendCharacters(text)
		w.err = w.spill()
	}
}
