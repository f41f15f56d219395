package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/highlight"
)

// tinting is what the colours of one page share.
type tinting struct {
	page  highlight.Page
	until time.Time // zero: for ever
}

// newTinting leaves a fifth of the page's time for what is not colours.
func newTinting(ctx context.Context) *tinting {
	t := new(tinting)
	if end, ok := ctx.Deadline(); ok {
		t.until = end.Add(-time.Until(end) / 5)
	}
	return t
}

// tint returns the colours of a code.
type tint func(ctx context.Context, language, code string) highlight.Colours

// within returns what makes the colours of codes that share a scope in the cache.
func (t *tinting) within(from *highlight.Highlighter, scope string) tint {
	return func(ctx context.Context, language, code string) highlight.Colours {
		if !t.until.IsZero() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, t.until)
			defer cancel()
		}
		return from.Colours(ctx, &t.page, scope, language, code)
	}
}

// sourceColours returns the colours of the part's code as its source.
func (p *pastyPart) sourceColours(ctx context.Context) highlight.Colours {
	if p.Unnumbered {
		return highlight.Colours{}
	}
	return p.tint(ctx, p.pasty.Language, p.pasty.Code)
}
