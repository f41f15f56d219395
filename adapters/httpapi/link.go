package httpapi

import (
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/paste"
)

// pathOf returns the path at which people find a paste, or programs where there are no pages.
func (a *API) pathOf(id paste.ID) string {
	if a.pages == nil {
		return a.basePath + "/paste/" + string(id)
	}
	return "/" + string(id)
}

// sendLink answers with the link of a paste that was written, and a line end, or with the paste if the client prefers JSON.
func (a *API) sendLink(c *gin.Context, made *paste.Document) error {
	if prefers(c.Request.Header["Accept"], mediaJSON, mediaText) {
		return a.sendStored(c, made)
	}
	site := a.publicURL
	if _, proxied := a.proxies.client(c.Request); site == "" && c.Request.Host != "" {
		asked := a.asked(c.Request, proxied)
		site = asked.URL.Scheme + "://" + asked.Host
	}
	write(c, textContentType, []byte(site+a.pathOf(made.ID)+"\n"))
	return nil
}
