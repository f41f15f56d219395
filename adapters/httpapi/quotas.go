package httpapi

import (
	"math"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/paste"
)

// visitor returns who creates a paste. An address is looked for only where it counts.
func (a *API) visitor(c *gin.Context) pastes.Visitor {
	visitor := pastes.Visitor{Secret: presentedToken(c)}
	if visitor.Secret == "" && a.modules.Pastes.CreateOwn.Counts() {
		visitor.Client = a.counted(c.Request)
	}
	return visitor
}

// counted returns whose quota a request counts for: that of an address, or of an IPv6 client's network.
func (a *API) counted(r *http.Request) paste.Client {
	client, _ := a.proxies.client(r)
	if network, ok := networkOf(client); ok {
		client = network.String()
	}
	return paste.Client(client)
}

// tellUsage adds what a client has used of its quota to what the other limits say (draft-ietf-httpapi-ratelimit-headers).
func tellUsage(header http.Header, used paste.Usage) {
	if used.Pastes == 0 {
		return
	}
	window := int(math.Ceil(used.Window.Seconds()))
	policy := `"anonymous-pastes";q=` + strconv.Itoa(used.Pastes) + ";w=" + strconv.Itoa(window)
	left := `"anonymous-pastes";r=` + strconv.Itoa(used.Left()) + ";t=" + seconds(used.Full)
	if others := header["Ratelimit-Policy"]; len(others) > 0 { // as net/http spells them
		policy, left = others[0]+", "+policy, header["Ratelimit"][0]+", "+left
	}
	header["Ratelimit-Policy"], header["Ratelimit"] = []string{policy}, []string{left}
}
