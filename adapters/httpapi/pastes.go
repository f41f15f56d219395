package httpapi

import (
	"context"
	"errors"
	"net"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func (a *API) createPaste(ctx context.Context, c *call) (any, error) {
	return a.create(ctx, c, wire.DecodeDraft)
}

func (a *API) createEncrypted(ctx context.Context, c *call) (any, error) {
	created, err := a.create(ctx, c, wire.DecodeEncrypted)
	if err != nil {
		return nil, err
	}
	return view.NewEncrypted(created), nil
}

var errCrossSite = fault.New(fault.Unauthenticated,
	"A page of another site needs an access token to create pastes: without one, they would use up its visitor's limit.")

// checkSite refuses the request of a visitor to a page of another site, where anonymous pastes have a quota: that page
// must not use up its visitor's quota.
func (a *API) checkSite(c *call) error {
	if !c.viewer.SignedIn() && a.modules.Pastes.CreateOwn.HasQuota() && limit.CrossSite(c.Request) {
		return errCrossSite
	}
	return nil
}

// create decodes the body only after it has checked that the viewer may create pastes, so that error comes first.
// Anonymous pastes count against their client's quota, if there is one.
func (a *API) create(ctx context.Context, c *call, decode func([]byte) (paste.Draft, error)) (*paste.Document, error) {
	if err := a.modules.Pastes.CreateOwn.Allow(c.viewer); err != nil {
		return nil, err
	}
	if err := a.checkSite(c); err != nil {
		return nil, err
	}
	draft, err := decode(c.body)
	if err != nil {
		return nil, err
	}
	created, err := a.modules.Pastes.CreateOwn.Do(ctx, c.actor(), draft)
	if err != nil {
		return nil, err
	}
	header := c.Writer.Header()
	useOf(created.Usage).Tell(header)
	header["Location"] = []string{a.cfg.PublicURL + a.pathOf(created.ID)}
	if created.Key != "" {
		header[deleteKeyHeader] = []string{string(created.Key)}
	}
	return &created.Document, nil
}

// pathOf returns the path of a paste's page, or of its endpoint if there are no pages.
func (a *API) pathOf(id paste.ID) string {
	if a.cfg.Pages == nil {
		return a.cfg.BasePath + "/paste/" + string(id)
	}
	return "/" + string(id)
}

func (a *API) editPaste(ctx context.Context, c *call) (any, error) {
	id := c.Param("id")
	changes, err := wire.DecodeChanges(c.body)
	if err != nil {
		return nil, a.modules.Pastes.EditOwn.Refuse(ctx, c.actor(), id, err)
	}
	document, err := a.modules.Pastes.EditOwn.Do(ctx, c.actor(), id, changes)
	return &document, err
}

// deleteKeyHeader carries the key of an anonymous paste, in the answer that creates it and the request that deletes it.
const deleteKeyHeader = "Gluepot-Delete-Key"

// presentedKey returns the delete key that a request presents, or "".
func presentedKey(c *gin.Context) paste.DeleteKey {
	return paste.DeleteKey(c.GetHeader(deleteKeyHeader))
}

// deletePaste answers with an empty object, because clients fail on an empty body. A wrong key is a failed sign-in.
func (a *API) deletePaste(ctx context.Context, c *call) (any, error) {
	key := presentedKey(c.Context)
	err := a.modules.Pastes.DeleteOwn.Do(ctx, c.actor(), c.Param("id"), key)
	if key != "" && fault.Is(err, fault.Unauthenticated) {
		a.limits.NoteFailure(c.Request)
	}
	return struct{}{}, err
}

// starPaste makes the endpoint that stars a paste, or removes the star.
func (a *API) starPaste(starred bool) func(context.Context, *call) (any, error) {
	return func(ctx context.Context, c *call) (any, error) {
		stars, err := a.modules.Pastes.Star.Count(ctx, c.actor(), c.Param("id"), starred)
		return map[string]int64{"stars": stars}, err
	}
}

func (a *API) readPaste(ctx context.Context, c *call) (any, error) {
	document, err := a.modules.Pastes.Read.Do(ctx, c.viewer, c.Param("id"))
	if document.Visibility == paste.Public {
		delete(c.Writer.Header(), "X-Robots-Tag")
	}
	return &document, err
}

// openPaste deletes the paste before it answers.
func (a *API) openPaste(ctx context.Context, c *call) (any, error) {
	c.Writer.Header()["Cache-Control"] = privateNoStore
	document, err := a.modules.Pastes.Open.Do(ctx, c.actor(), c.Param("id"))
	return &document, err
}

// errBurnsAfterReading is not a fault.NotFound, so that a client without the key does not open the paste.
var errBurnsAfterReading = fault.New(fault.Conflict,
	"This paste burns after reading. POST /open/{id} returns it and deletes it.")

func (a *API) readEncrypted(ctx context.Context, c *call) (any, error) {
	document, err := a.modules.Pastes.Read.Cipher(ctx, c.viewer, c.Param("id"))
	if errors.Is(err, paste.ErrBurns) {
		err = errBurnsAfterReading
	}
	return &document, err
}

// longPiece is a length that few lists' pieces reach.
const longPiece = 128 << 10

// selfPastes buffers the whole answer before it sends the first byte: a failure half-way must become a 503, not half an
// array. The answer has a piece for each page, because one growing buffer would leave garbage. The length of a long
// list is unknown until its end, so it claims the whole share of its client.
func (a *API) selfPastes(ctx context.Context, c *call) (any, error) {
	var list net.Buffers
	err := a.modules.Pastes.ListOwn.Do(ctx, c.viewer, func(page []paste.ID) error {
		piece := encodeJSON(page)
		if len(list) > 0 {
			piece[0] = ','
		}
		list = append(list, piece[:len(piece)-1])
		switch length := lengthOf(list); {
		case length > a.memory.Share():
			return limit.ErrNoMemory
		case len(piece) >= longPiece:
			return a.hold(c, a.memory.Share())
		default:
			return a.hold(c, length)
		}
	})
	if err != nil || len(list) == 0 {
		return []paste.ID{}, err
	}
	list = append(list, []byte("]"))
	c.claim.Force(lengthOf(list))
	return &list, nil
}

func (a *API) pasteCount(ctx context.Context, _ *call) (any, error) {
	count, err := a.modules.Pastes.CountActive.Do(ctx)
	return map[string]int64{"numPastes": count}, err
}

func (a *API) expiryTime(_ context.Context, c *call) (any, error) {
	createdAt, _ := parameter(c, "createdAt")
	expiresIn, _ := parameter(c, "expiresIn")
	result, err := paste.ExpiryUnix(createdAt, expiresIn)
	return map[string]int64{"result": result}, err
}
