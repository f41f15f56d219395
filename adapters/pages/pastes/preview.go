package pastes

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/gluepot/gluepot/adapters/pages/markdown"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// pathPreview takes the Markdown in the editor, and answers with a page that shows it rendered.
const pathPreview = "/preview"

// preview renders Markdown as the page of a paste would, for those who may create one, and as often. It stores nothing.
// A client has one preview at a time.
func (p *pages) preview(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	page := previewPage{Layout: r.Layout("Preview", "")}
	if code := fields.Get("code"); len(code) <= maxRenderedBytes {
		client := paste.ClientAt(r.Actor().Address())
		if r.Viewer.SignedIn() {
			client = paste.ClientOf(r.Viewer.User.ID)
		}
		end, err := p.previews.begin(r.Context(), client)
		if err != nil {
			return err
		}
		defer end()
		if err := p.Modules.Pastes.Preview.Do(r.Actor()); err != nil {
			return err
		}
		leave, err := p.Large.Enter(r.Context())
		if err != nil {
			return err
		}
		defer leave()
		colours := newColouring(r.Context())
		colours.page.Preview = true
		scope := "preview/" + rand.Text() // shared with nobody
		page.Rendered = p.markdown(code, markdown.NewIDs(markdown.IDPrefix), colours.scope(p.colours, scope))
	}
	return site.Show(w, r, p.previewView(page), nil)
}

// maxPreviews is how many previews of a client are rendered or wait for that.
const maxPreviews = 4

var errManyPreviews = fault.Wrap(fault.Busy, "Your previews are still being rendered. Try again shortly.",
	errors.New("too many previews of one client wait"))

// turns lets each client do one thing at a time. The zero turns are ready.
type turns struct {
	mu      sync.Mutex
	clients map[paste.Client]*turn
}

// turn is that of a client.
type turn struct {
	slot    chan struct{} // a semaphore
	waiting int           // or at work
}

// begin waits for the client's turn. It fails with fault.Busy when too many of its requests wait, or when ctx ends.
func (t *turns) begin(ctx context.Context, client paste.Client) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.clients[client]
	if own == nil {
		if t.clients == nil {
			t.clients = map[paste.Client]*turn{}
		}
		own = &turn{slot: make(chan struct{}, 1)}
		t.clients[client] = own
	}
	if own.waiting >= maxPreviews {
		return nil, errManyPreviews
	}
	own.waiting++
	t.mu.Unlock()
	select {
	case own.slot <- struct{}{}:
	case <-ctx.Done():
		err = fault.Wrap(errManyPreviews.Kind, errManyPreviews.Message, context.Cause(ctx))
	}
	t.mu.Lock()
	if err != nil {
		t.leave(client, own)
		return nil, err
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		<-own.slot
		t.leave(client, own)
	}, nil
}

// leave forgets a client without requests.
func (t *turns) leave(client paste.Client, own *turn) {
	if own.waiting--; own.waiting == 0 {
		delete(t.clients, client)
	}
}
