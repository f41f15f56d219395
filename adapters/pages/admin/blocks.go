package admin

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

// blocksPage has the blocked networks.
type blocksPage struct {
	site.Layout

	Blocks []blockedNetwork
}

type blockedNetwork struct {
	Network, Reason  string
	Created, Expires site.Moment // zero: never
}

// adminBlocks lists the blocked networks.
func (p *pages) adminBlocks(w http.ResponseWriter, r *site.Request) error {
	blocks, err := p.Modules.Moderation.Block.All(r.Context())
	if err != nil {
		return err
	}
	page := blocksPage{Layout: r.Layout("Blocked networks", "")}
	for _, b := range blocks {
		page.Blocks = append(page.Blocks, blockedNetwork{b.Network.String(), b.Reason, site.At(b.CreatedAt), site.At(b.ExpiresAt)})
	}
	return site.Show(w, r, p.blocksView(page))
}

// blockDays are how long a block may last on the page: for good, or days.
var blockDays = map[string]time.Duration{"": 0, "1": 24 * time.Hour, "7": 7 * 24 * time.Hour, "30": 30 * 24 * time.Hour}

// changeBlocks adds or removes a block.
func (p *pages) changeBlocks(w http.ResponseWriter, r *site.Request) error {
	fields, err := r.Fields(4)
	if err != nil {
		return err
	}
	if network := fields.Get("remove"); network != "" {
		err = p.Modules.Moderation.Block.Undo(r.Context(), network)
	} else {
		err = p.block(r, fields)
	}
	return done(w, err, pathBlocks)
}

func (p *pages) block(r *site.Request, fields url.Values) error {
	lasts, known := blockDays[fields.Get("days")]
	if !known {
		return site.ErrBrokenForm
	}
	_, err := p.Modules.Moderation.Block.Do(r.Context(), strings.TrimSpace(fields.Get("network")),
		strings.TrimSpace(fields.Get("reason")), lasts)
	return err
}
