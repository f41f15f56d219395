package pastes

import (
	"crypto/sha256"
	"net/http"
	"strings"

	"github.com/gluepot/gluepot/adapters/internal/cache"
	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/picture"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// pathPicture is below the path of a paste: a picture of its first lines, for previews of links.
const pathPicture = "/picture.png"

// maxPictureCache is the size limit of the cache of pictures in bytes. A picture has about 50 kB.
const maxPictureCache = 8 << 20

func newPictures() *cache.Cache[[]byte] {
	return cache.New(maxPictureCache, func(key string, png []byte) int64 { return int64(300 + len(key) + len(png)) })
}

var (
	errNoPicture   = fault.New(fault.NotFound, "There is no picture of this paste.")
	errLatePicture = fault.New(fault.Busy, "The picture was not ready in time. Try again shortly.")
)

// picture answers with the picture of a paste. It fails as the page of the paste does, and with fault.NotFound when the
// paste has none, also for its owner.
func (p *pages) picture(w http.ResponseWriter, r *site.Request) error {
	doc, err := p.unopened(r)
	if err != nil {
		return err
	}
	pasty, excerpt := pictured(&doc)
	if pasty == nil {
		return errNoPicture
	}
	shown := picture.Picture{
		Title: showable(site.TitleOf(&doc), site.MaxHeading), Site: showable(p.Config.SiteName, site.MaxName),
		Facts: showable(pasty.Language, site.MaxName), Code: marks.Plain(excerpt),
	}
	r, cancel := p.withRenderTime(r)
	defer cancel()
	sum := sha256.Sum256([]byte(strings.Join([]string{shown.Title, shown.Facts, shown.Code}, "\x00")))
	key := string(doc.ID) + string(sum[:]) // shared with no other paste
	png, ok := p.pictures.Get(key)
	if !ok {
		leave, err := p.Large.Enter(r.Context())
		if err != nil {
			return err
		}
		defer leave()
		scope := string(doc.ID) + pathPicture
		colours := newColouring(r.Context()).scope(p.colours, scope)(r.Context(), pasty.Language, shown.Code)
		if colours.Late {
			return errLatePicture
		}
		shown.Spans = colours.Spans
		if png, err = shown.PNG(); err != nil {
			return err
		}
		p.pictures.Put(key, png)
	}
	r.Public = doc.Visibility == paste.Public
	site.Enclose(w, r, "image/png", "")
	_, err = w.Write(png)
	return err
}

// pictured returns the first pasty with any text, and the part of it that a picture shows. It returns no pasty when
// there is no picture: not everyone with the link may read the paste, it is empty, or the fonts lack its characters.
func pictured(doc *paste.Document) (pasty *paste.Pasty, excerpt string) {
	if doc.Visibility == paste.Private || doc.Burns || doc.Encrypted() {
		return nil, ""
	}
	for i := range doc.Pasties {
		if excerpt = picture.Excerpt(doc.Pasties[i].Code); excerpt != "" {
			if picture.CanShow(excerpt) {
				pasty = &doc.Pasties[i]
			}
			break
		}
	}
	return pasty, excerpt
}

// showable returns the beginning of a line, or "" if the fonts lack its characters.
func showable(line string, most int) string {
	line = marks.Plain(site.Shortened(line, most))
	if !picture.CanShow(line) {
		return ""
	}
	return line
}
