package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/highlight"
)

// colouring holds what all code on one page shares: the work that highlighting may take, and a deadline.
type colouring struct {
	page     highlight.Page
	deadline time.Time // zero: none
}

// newColouring reserves a fifth of the context's time for the rest of the page.
func newColouring(ctx context.Context) *colouring {
	c := new(colouring)
	if end, ok := ctx.Deadline(); ok {
		c.deadline = end.Add(-time.Until(end) / 5)
	}
	return c
}

// colourFunc returns the colours of code.
type colourFunc func(ctx context.Context, language, code string) highlight.Colours

// scope returns a colourFunc whose results share a scope of the cache.
func (c *colouring) scope(highlighter *highlight.Highlighter, scope string) colourFunc {
	return func(ctx context.Context, language, code string) highlight.Colours {
		if !c.deadline.IsZero() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, c.deadline)
			defer cancel()
		}
		return highlighter.Colours(ctx, &c.page, scope, language, code)
	}
}

// sourceColours returns the colours of the part's source.
func (p *pastyPart) sourceColours(ctx context.Context) highlight.Colours {
	if p.Unnumbered {
		return highlight.Colours{}
	}
	return p.colour(ctx, p.pasty.Language, p.pasty.Code)
}
