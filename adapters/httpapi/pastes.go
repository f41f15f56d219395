package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/cespare/xxhash/v2"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// maxHeldText is the most text that is encoded once and held. More is streamed, which encodes it twice. So is text that needs many
// escapes, of which JSON makes six times as much.
const maxHeldText = 4 << 20

// sendPaste answers with a paste. After a write it answers even beyond the memory budget.
func (a *API) sendPaste(c *call, d *paste.Document, tagged, written bool) error {
	if c.body != nil {
		c.body.Release() // it is not needed any more
		c.body.text = nil
	}
	text, read := d.Bytes(), a.claim(c.Request)
	defer read.Release()
	if err := read.Resize(min(text, a.memory.Share())); err != nil && !written {
		return err
	}
	if text <= maxHeldText {
		made := a.newBuffer(c.Request, 1)
		defer made.Release()
		made.text, made.fixed = make([]byte, 0, text+text/8+4<<10), true // enough for most
		if view.WritePaste(made, d) == nil {
			read.Release()
			sendBody(c.Context, http.StatusOK, jsonContentType, etagOf(tagged, xxhash.Sum64(made.text)), made.text)
			return nil
		}
		made.Release()
		made.text = nil
	}
	measured := &measure{Digest: xxhash.New()}
	if err := view.WritePaste(measured, d); err != nil {
		return err
	}
	if begin(c.Context, http.StatusOK, jsonContentType, etagOf(tagged, measured.Sum64()), measured.length) {
		_ = view.WritePaste(c.Writer, d) // a client that has gone cannot be told
	}
	return nil
}

// measure hashes and counts what is written to it.
type measure struct {
	*xxhash.Digest

	length int64
}

// Write implements io.Writer.
func (m *measure) Write(p []byte) (int, error) {
	m.length += int64(len(p))
	return m.Digest.Write(p)
}

func (a *API) createPaste(ctx context.Context, c *call) error {
	made, err := a.create(ctx, c, wire.DecodeDraft)
	if err != nil {
		return err
	}
	return a.sendPaste(c, &made, false, true)
}

var errCrossSite = fault.New(fault.Unauthenticated,
	"A page of another site may create pastes with an access token only: without one, they would count for its visitor.")

// create decodes the body only after it has checked that the viewer may create pastes: that error comes first. Anonymous pastes count for
// the quota of their client, if there is one. A page of another site must not use up its visitor's quota.
func (a *API) create(ctx context.Context, c *call, decode func([]byte) (paste.Draft, error)) (paste.Document, error) {
	if err := a.modules.Pastes.CreateOwn.Allow(c.viewer); err != nil {
		return paste.Document{}, err
	}
	var client paste.Client
	if !c.viewer.SignedIn() && a.modules.Pastes.CreateOwn.Counts() {
		if client = counted(c.Request); crossSite(c.Request) {
			return paste.Document{}, errCrossSite
		}
	}
	draft, err := decode(c.body.text)
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
	changes, err := wire.DecodeChanges(c.body.text)
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

func (a *API) deletePaste(ctx context.Context, c *call) error {
	if err := a.modules.Pastes.DeleteOwn.Do(ctx, c.viewer, c.Param("id"), paste.DeleteKey(c.GetHeader(deleteKeyHeader))); err != nil {
		return err
	}
	sendJSON(c.Context, struct{}{}) // clients fail on an answer without a body
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

// selfPastes collects the whole answer before it sends the first byte: a failure half-way must become a 503, not half an array. It is in
// pieces, one for each page: a text that grew would leave garbage.
func (a *API) selfPastes(ctx context.Context, c *call) error {
	held := a.claim(c.Request)
	defer held.Release()
	pieces, length := [][]byte{}, int64(0)
	add := func(piece []byte) error {
		pieces, length = append(pieces, piece), length+int64(len(piece))
		return held.Resize(length)
	}
	err := a.modules.Pastes.ListOwn.Do(ctx, c.viewer, func(page []paste.Place) error {
		ids := make([]paste.ID, len(page))
		for i, place := range page {
			ids[i] = place.ID
		}
		piece := encodeJSON(ids)
		if len(pieces) > 0 {
			piece[0] = ','
		}
		return add(piece[:len(piece)-1])
	})
	if err != nil {
		return err
	}
	end := "]"
	if len(pieces) == 0 {
		end = "[]"
	}
	if err := add([]byte(end)); err != nil {
		return err
	}
	if begin(c.Context, http.StatusOK, jsonContentType, nil, length) {
		for _, piece := range pieces {
			if _, err := c.Writer.Write(piece); err != nil { // a client that has gone cannot be told
				break
			}
		}
	}
	return nil
}

func (a *API) pasteCount(ctx context.Context, c *call) error {
	count, err := a.modules.Pastes.CountActive.Do(ctx)
	if err != nil {
		return err
	}
	sendJSON(c.Context, map[string]int64{"numPastes": count})
	return nil
}

func (a *API) createEncrypted(ctx context.Context, c *call) error {
	made, err := a.create(ctx, c, wire.DecodeEncrypted)
	if err != nil {
		return err
	}
	sendJSON(c.Context, view.NewEncrypted(&made))
	return nil
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

func (a *API) expiryTime(_ context.Context, c *call) error {
	createdAt, _ := parameter(c.Context, "createdAt")
	expiresIn, _ := parameter(c.Context, "expiresIn")
	result, err := paste.ExpiryUnix(createdAt, expiresIn)
	if err != nil {
		return err
	}
	sendJSON(c.Context, map[string]int64{"result": result})
	return nil
}
