package httpapi

import (
	"context"
	"io"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/domain/paste"
)

// pasteView is a paste up to its pasties, and pastyView and editView are their elements up to what may be long. The v2 API has these
// fields and no others: strict clients fail. Nothing is null.
type pasteView struct {
	ID        string   `json:"_id"`
	OwnerID   string   `json:"ownerId"`
	Title     string   `json:"title"`
	CreatedAt int64    `json:"createdAt"`
	ExpiresIn string   `json:"expiresIn"`
	DeletesAt int64    `json:"deletesAt"`
	Stars     int64    `json:"stars"`
	IsPrivate bool     `json:"isPrivate"`
	IsPublic  bool     `json:"isPublic"`
	Tags      []string `json:"tags"`
	Encrypted bool     `json:"encrypted"`
}

type pastyView struct {
	ID       string `json:"_id"`
	Language string `json:"language"`
	Title    string `json:"title"`
}

type editView struct {
	ID       string   `json:"_id"`
	EditID   int64    `json:"editId"`
	EditType int      `json:"editType"`
	Metadata []string `json:"metadata"`
}

func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// writePaste writes a paste in pieces.
func writePaste(to io.Writer, d *paste.Document) error {
	w := newJSONWriter(to)
	w.begin(pasteView{
		ID: string(d.ID), OwnerID: string(d.Owner), Title: d.Title, CreatedAt: d.CreatedAt.Unix(), ExpiresIn: string(d.ExpiresIn()),
		DeletesAt: d.DeletesAt(), Stars: d.Stars, IsPrivate: d.Visibility == paste.Private, IsPublic: d.Visibility == paste.Public,
		Tags: list(d.Tags), Encrypted: d.Encrypted(),
	})
	w.raw(`,"pasties":[`)
	for i, p := range d.Pasties {
		w.comma(i)
		w.begin(pastyView{ID: p.ID, Language: p.Language, Title: p.Title})
		w.raw(`,"code":`)
		w.text(p.Code)
		w.raw(`}`)
	}
	w.raw(`],"edits":[`)
	for i, e := range d.Edits {
		w.comma(i)
		w.begin(editView{ID: e.ID, EditID: e.Number, EditType: int(e.Type), Metadata: list(e.Metadata)})
		w.raw(`,"edit":`)
		w.text(e.Text)
		w.raw(`,"editedAt":` + strconv.FormatInt(e.At.Unix(), 10) + `}`)
	}
	w.raw(`]}`)
	return w.err
}

// maxHeldText is how much text a paste may have to be encoded once, and held; more is encoded twice, and not held.
const maxHeldText = 4 << 20

// textLength is how long the texts of a paste are together.
func textLength(d *paste.Document) (length int64) {
	for _, p := range d.Pasties {
		length += int64(len(p.Title) + len(p.Code))
	}
	for _, e := range d.Edits {
		length += int64(len(e.Text))
	}
	return length
}

// sendPaste answers with a paste. What was written is answered also where there is no memory left to claim.
func (a *API) sendPaste(c *gin.Context, d *paste.Document, tagged, written bool) error {
	text, read := textLength(d), a.claim(c.Request)
	defer read.Release()
	if err := read.Resize(min(text, a.memory.Share())); err != nil && !written {
		return err
	}
	if text <= maxHeldText {
		made := a.newAnswer(c)
		defer made.Release()
		if writePaste(made, d) == nil {
			read.Release()
			made.tagged = tagged
			made.send(c, jsonContentType)
			return nil
		}
	}
	return sendStream(c, jsonContentType, tagged, func(to io.Writer) error { return writePaste(to, d) })
}

// sendStored answers with a paste that was written.
func (a *API) sendStored(c *gin.Context, d *paste.Document) error {
	return a.sendPaste(c, d, false, true)
}

func (a *API) createPaste(ctx context.Context, c *gin.Context, body []byte) (paste.Document, error) {
	return a.create(ctx, c, func() (paste.Draft, error) { return wire.DecodeDraft(body) })
}

// create reads the draft once it is known that the viewer may create pastes: that is the first thing to say.
func (a *API) create(ctx context.Context, c *gin.Context, read func() (paste.Draft, error)) (paste.Document, error) {
	viewer := viewerOf(c)
	if err := a.modules.Pastes.CreateOwn.Allow(viewer); err != nil {
		return paste.Document{}, err
	}
	client, err := a.counts(c, viewer)
	if err != nil {
		return paste.Document{}, err
	}
	draft, err := read()
	if err != nil {
		return paste.Document{}, err
	}
	made, err := a.modules.Pastes.CreateOwn.Do(ctx, viewer, client, draft)
	if err != nil {
		return paste.Document{}, err
	}
	header := c.Writer.Header()
	tellUsage(header, made.Usage)
	header["Location"] = []string{a.publicURL + a.pathOf(made.ID)}
	if made.Key != "" {
		header[deleteKeyHeader] = []string{string(made.Key)}
	}
	return made.Document, nil
}

func (a *API) editPaste(ctx context.Context, c *gin.Context, body []byte) (paste.Document, error) {
	viewer, id := viewerOf(c), c.Param("id")
	changes, err := wire.DecodeChanges(body)
	if err != nil {
		return paste.Document{}, a.modules.Pastes.EditOwn.Refuse(ctx, viewer, id, err)
	}
	return a.modules.Pastes.EditOwn.Do(ctx, viewer, id, changes)
}

// deleteKeyHeader has the key of an anonymous paste, in the answer that has made it and the request that deletes it.
const deleteKeyHeader = "Gluepot-Delete-Key"

var emptyObject = []byte("{}")

func (a *API) deletePaste(ctx context.Context, c *gin.Context) error {
	if err := a.modules.Pastes.DeleteOwn.Do(ctx, viewerOf(c), c.Param("id"), paste.DeleteKey(c.GetHeader(deleteKeyHeader))); err != nil {
		return err
	}
	writeJSON(c, emptyObject) // clients fail on an answer without a body
	return nil
}

func (a *API) readPaste(ctx context.Context, c *gin.Context) error {
	found, err := a.modules.Pastes.Read.Do(ctx, viewerOf(c), c.Param("id"))
	if err != nil {
		return err
	}
	if found.Visibility != paste.Public {
		c.Writer.Header()["X-Robots-Tag"] = noindex
	}
	return a.sendPaste(c, &found, presentedToken(c) == "", false)
}

// openPaste answers once the paste is gone for good.
func (a *API) openPaste(ctx context.Context, c *gin.Context) error {
	c.Writer.Header()["Cache-Control"] = privateHeader
	opened, err := a.modules.Pastes.Open.Do(ctx, viewerOf(c), c.Param("id"))
	if err != nil {
		return err
	}
	return a.sendPaste(c, &opened, false, true)
}

// selfPastes collects the whole answer before it sends the first byte: a database that fails half-way through a long list must
// become a 503, not half an array, and none waits for a client that reads slowly.
func (a *API) selfPastes(ctx context.Context, c *gin.Context) error {
	made := a.newAnswer(c)
	defer made.Release()
	w, before := newJSONWriter(made), "["
	err := a.modules.Pastes.ListOwn.Do(ctx, viewerOf(c), func(page []paste.Place) error {
		ids := make([]paste.ID, len(page))
		for i, place := range page {
			ids[i] = place.ID
		}
		w.raw(before)
		w.inside(ids, 1)
		before = ","
		return w.err
	})
	if err != nil {
		return err
	}
	if before == "[" { // there are none
		w.raw(before)
	}
	if w.raw("]"); w.err != nil {
		return w.err
	}
	made.send(c, jsonContentType)
	return nil
}

type countView struct {
	NumPastes int64 `json:"numPastes"`
}

func (a *API) pasteCount(ctx context.Context, c *gin.Context) error {
	count, err := a.modules.Pastes.CountActive.Do(ctx)
	if err != nil {
		return err
	}
	return encodeAndWrite(c, countView{NumPastes: count})
}
