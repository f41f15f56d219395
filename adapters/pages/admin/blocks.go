package admin

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

func (p *pages) adminBlocks(w http.ResponseWriter, r *site.Request) error {
	blocks, err := p.Modules.Moderation.Block.All(r.Context())
	if err != nil {
		return err
	}
	return site.Show(w, r, p.blocksView(r.Layout("Blocked networks", ""), blocks))
}

// blockDays are the durations on the form; "" is for good.
var blockDays = map[string]time.Duration{"": 0, "1": 24 * time.Hour, "7": 7 * 24 * time.Hour, "30": 30 * 24 * time.Hour}

func (p *pages) changeBlocks(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	if network := fields.Get("remove"); network != "" {
		_, err := p.Modules.Moderation.Block.Undo(r.Context(), network)
		return done(w, err, pathBlocks)
	}
	lasts, known := blockDays[fields.Get("days")]
	if !known {
		return site.ErrBrokenForm
	}
	_, err := p.Modules.Moderation.Block.Do(r.Context(), strings.TrimSpace(fields.Get("network")),
		strings.TrimSpace(fields.Get("reason")), lasts)
	return done(w, err, pathBlocks)
}
