package pastes

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	qr "github.com/piglig/go-qr"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

// qrQuiet is the width in modules of the empty border that readers of QR codes need.
const qrQuiet = 4

// qrCode answers with a picture of a paste's link. It fails as the page of the paste does.
func (p *pages) qrCode(w http.ResponseWriter, r *site.Request) error {
	doc, err := p.unopened(r)
	if err != nil {
		return err
	}
	code, err := qr.EncodeText(p.Address(r.Request)+site.PathOfPaste(string(doc.ID)), qr.Medium)
	if err != nil {
		return err
	}
	site.Enclose(w, r, "image/svg+xml", "")
	_, err = io.WriteString(w, qrPicture(code))
	return err
}

// qrPicture draws a QR code as SVG: a path with a stroke for each run of dark modules.
func qrPicture(code *qr.QrCode) string {
	var path strings.Builder
	for y := range code.Size() {
		for x := 0; x < code.Size(); x++ {
			from := x
			for x < code.Size() && code.Module(x, y) {
				x++
			}
			if x > from {
				_, _ = fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+qrQuiet, y+qrQuiet, x-from, x-from) // never fails
			}
		}
	}
	size := code.Size() + 2*qrQuiet
	return fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" shape-rendering="crispEdges">`+
			`<path fill="#fff" d="M0 0h%dv%dH0z"/><path d="%s"/></svg>`+"\n", size, size, 8*size, 8*size, size, size,
		path.String())
}
