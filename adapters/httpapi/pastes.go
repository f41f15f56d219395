package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// maxHeldText is the most text that is encoded once and held. More is streamed, which encodes it twice.
const maxHeldText = 4 << 20

// sendPaste answers with a paste. After a write it answers even beyond the memory budget.
func (a *API) sendPaste(c *call, d *paste.Document, tagged, written bool) error {
	if c.body != nil {
		c.body.Release() // it is not needed any more
	}
	text, read := d.Bytes(), a.claim(c.Request)
	defer read.Release()
	if err := read.Resize(min(text, a.memory.Share())); err != nil && !written {
		return err
	}
	if text <= maxHeldText {
		made := a.newBuffer(c.Request, 1)
		defer made.Release()
		if view.WritePaste(made, d) == nil {
			read.Release()
			made.send(c.Context, http.StatusOK, jsonContentType, tagged)
			return nil
		}
	}
	return sendStream(c.Context, jsonContentType, tagged, func(to io.Writer) error { return view.WritePaste(to, d) })
}

func (a *API) createPaste(ctx context.Context, c *call) error {
	made, err := a.create(ctx, c, func() (paste.Draft, error) { return wire.DecodeDraft(c.body.join()) })
	if err != nil {
		return err
	}
	return a.sendPaste(c, &made, false, true)
}

// create reads the draft only after it has checked that the viewer may create pastes: that error comes first.
func (a *API) create(ctx context.Context, c *call, read func() (paste.Draft, error)) (paste.Document, error) {
	if err := a.modules.Pastes.CreateOwn.Allow(c.viewer); err != nil {
		return paste.Document{}, err
	}
	client, err := a.counts(c)
	if err != nil {
		return paste.Document{}, err
	}
	draft, err := read()
	if err != nil {
		return paste.Document{}, err
	}
	made, err := a.modules.Pastes.CreateOwn.Do(ctx, c.viewer, client, draft)
	if err != nil {
		return paste.Document{}, err
	}
	header := c.Writer.Header()
	header["Location"] = []string{a.publicURL + a.pathOf(made.ID)}
	if made.Key != "" {
		header[deleteKeyHeader] = []string{string(made.Key)}
	}
	return made.Document, nil
}

func (a *API) editPaste(ctx context.Context, c *call) error {
	id := c.Param("id")
	changes, err := wire.DecodeChanges(c.body.join())
	if err != nil {
		return a.modules.Pastes.EditOwn.Refuse(ctx, c.viewer, id, err)
	}
	edited, err := a.modules.Pastes.EditOwn.Do(ctx, c.viewer, id, changes)
	if err != nil {
		return err
	}
	return a.sendPaste(c, &edited, false, true)
}

// deleteKeyHeader has the key of an anonymous paste, in the answer that creates it and the request that deletes it.
const deleteKeyHeader = "Gluepot-Delete-Key"

var emptyObject = []byte("{}")

func (a *API) deletePaste(ctx context.Context, c *call) error {
	if err := a.modules.Pastes.DeleteOwn.Do(ctx, c.viewer, c.Param("id"), paste.DeleteKey(c.GetHeader(deleteKeyHeader))); err != nil {
		return err
	}
	sendJSON(c.Context, emptyObject) // clients fail on an answer without a body
	return nil
}

func (a *API) readPaste(ctx context.Context, c *call) error {
	found, err := a.modules.Pastes.Read.Do(ctx, c.viewer, c.Param("id"))
	if err != nil {
		return err
	}
	if found.Visibility == paste.Public {
		delete(c.Writer.Header(), "X-Robots-Tag")
	}
	return a.sendPaste(c, &found, c.secret == "", false)
}

// openPaste deletes the paste before it answers.
func (a *API) openPaste(ctx context.Context, c *call) error {
	c.Writer.Header()["Cache-Control"] = privateHeader
	opened, err := a.modules.Pastes.Open.Do(ctx, c.viewer, c.Param("id"))
	if err != nil {
		return err
	}
	return a.sendPaste(c, &opened, false, true)
}

// selfPastes collects the whole answer before it sends the first byte: a failure half-way must become a 503, not half an array.
func (a *API) selfPastes(ctx context.Context, c *call) error {
	made := a.newBuffer(c.Request, 1)
	defer made.Release()
	before := "["
	err := a.modules.Pastes.ListOwn.Do(ctx, c.viewer, func(page []paste.Place) error {
		ids := make([]paste.ID, len(page))
		for i, place := range page {
			ids[i] = place.ID
		}
		encoded, err := encodeJSON(ids)
		if err != nil {
			return err
		}
		if _, err := made.WriteString(before); err != nil {
			return err
		}
		before = ","
		_, err = made.Write(encoded[1 : len(encoded)-1])
		return err
	})
	if err != nil {
		return err
	}
	end := "]"
	if before == "[" { // there are none
		end = "[]"
	}
	if _, err := made.WriteString(end); err != nil {
		return err
	}
	made.send(c.Context, http.StatusOK, jsonContentType, false)
	return nil
}

type countView struct {
	NumPastes int64 `json:"numPastes"`
}

func (a *API) pasteCount(ctx context.Context, c *call) error {
	count, err := a.modules.Pastes.CountActive.Do(ctx)
	if err != nil {
		return err
	}
	return encodeAndSend(c.Context, countView{NumPastes: count})
}

func (a *API) createEncrypted(ctx context.Context, c *call) error {
	made, err := a.create(ctx, c, func() (paste.Draft, error) { return wire.DecodeEncrypted(c.body.join()) })
	if err != nil {
		return err
	}
	return encodeAndSend(c.Context, view.NewEncrypted(&made))
}

// errOpens differs from not found, so that clients without the key do not open the paste.
var errOpens = fault.New(fault.Conflict, "This paste burns after reading: POST /open/{id} deletes it, and answers with it.")

func (a *API) readEncrypted(ctx context.Context, c *call) error {
	found, err := a.modules.Pastes.ReadCipher.Do(ctx, c.viewer, c.Param("id"))
	if errors.Is(err, paste.ErrBurns) {
		return errOpens
	}
	if err != nil {
		return err
	}
	return a.sendPaste(c, &found, c.secret == "", false)
}

// expiryTime needs no deadline: it does not use the database.
func (a *API) expiryTime(c *gin.Context) {
	query := c.Request.URL.RawQuery
	result, err := paste.ExpiryUnix(wire.Value(parameter(query, "createdAt")), wire.Value(parameter(query, "expiresIn")))
	if err != nil {
		a.fail(c, err)
		return
	}
	sendJSON(c, append(strconv.AppendInt([]byte(`{"result":`), result, 10), '}'))
}
