package httpapi

import (
	"math"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

var errCrossSite = fault.New(fault.Unauthenticated,
	"A page of another site may create pastes with an access token only: without one, they would count for its visitor.")

// counts returns whose quota a new paste counts for. An address is looked for only where it counts, and there a page of another site
// may not use up the quota of its visitor.
func (a *API) counts(c *gin.Context, viewer token.Viewer) (paste.Client, error) {
	if viewer.SignedIn() || !a.modules.Pastes.CreateOwn.Counts() {
		return "", nil
	}
	if crossSite(c.Request) {
		return "", errCrossSite
	}
	return a.counted(c.Request), nil
}

// counted returns whose quota a request counts for: that of an address, or of an IPv6 client's network.
func (a *API) counted(r *http.Request) paste.Client {
	client, _ := a.proxies.client(r)
	return paste.Client(limit.Client(client))
}

// tellUsage adds what a client has used of its quota to what the other limits say (draft-ietf-httpapi-ratelimit-headers).
func tellUsage(header http.Header, used paste.Usage) {
	if used.Pastes == 0 {
		return
	}
	window := int(math.Ceil(used.Window.Seconds()))
	name := `"anonymous-pastes"`
	if used.Signed {
		name = `"pastes"`
	}
	policy := name + `;q=` + strconv.Itoa(used.Pastes) + ";w=" + strconv.Itoa(window)
	left := name + `;r=` + strconv.Itoa(used.Left()) + ";t=" + limit.Seconds(used.Full)
	if others := header["Ratelimit-Policy"]; len(others) > 0 { // as net/http spells them
		policy, left = others[0]+", "+policy, header["Ratelimit"][0]+", "+left
	}
	header["Ratelimit-Policy"], header["Ratelimit"] = []string{policy}, []string{left}
}
