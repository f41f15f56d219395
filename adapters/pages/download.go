package pages

import (
	"archive/zip"
	"compress/flate"
	"context"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

var (
	textContentType = []string{"text/plain; charset=utf-8"}
	zipContentType  = []string{"application/zip"}
	sandboxed       = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"}
)

// enclose sets the headers of what is no page.
func enclose(w http.ResponseWriter, r *request, contentType []string) {
	guard(w, r.personal())
	header := w.Header()
	header["Content-Type"] = contentType
	header["Content-Security-Policy"] = sandboxed
}

// attach sets the headers of a file to keep.
func attach(w http.ResponseWriter, r *request, contentType []string, name string) {
	enclose(w, r, contentType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// readRaw reads the pasty that the path names.
func (p *Pages) readRaw(r *request) (paste.Pasty, error) {
	found, rejected, err := p.modules.Pastes.ReadRaw.Do(r.Context(), r.session.secret, r.parameters[0], r.parameters[1])
	r.rejected = r.rejected || rejected
	return found, err
}

// raw answers with the code of one pasty as the interface for programs does, to which browsers send no token.
func (p *Pages) raw(w http.ResponseWriter, r *request) error {
	pasty, err := p.readRaw(r)
	if err != nil {
		return err
	}
	enclose(w, r, textContentType)
	return writePieces(w, pasty.Code)
}

// download answers with the code of one pasty as a file.
func (p *Pages) download(w http.ResponseWriter, r *request) error {
	pasty, err := p.readRaw(r)
	if err != nil {
		return err
	}
	attach(w, r, textContentType, p.fileName(&pasty))
	return writePieces(w, pasty.Code)
}

// archive answers with the code of all pasties as a ZIP file.
func (p *Pages) archive(w http.ResponseWriter, r *request) error {
	select { // before the paste is read, so that who waits holds no memory
	case p.packing <- struct{}{}:
		defer func() { <-p.packing }()
	case <-r.Context().Done():
		return fault.Wrap(fault.Unavailable, "Many files are being packed at the moment. Try again shortly.", context.Cause(r.Context()))
	}
	found, err := p.read(r)
	if err != nil {
		return err
	}
	attach(w, r, zipContentType, string(found.ID)+".zip")
	written := found.CreatedAt
	if n := len(found.Edits); n > 0 {
		written = found.Edits[n-1].At
	}
	names := make(fileNames)
	files := zip.NewWriter(w)
	var packer *flate.Writer // takes much memory, and ends a file before the next one begins
	files.RegisterCompressor(zip.Deflate, func(to io.Writer) (_ io.WriteCloser, err error) {
		if packer == nil {
			packer, err = flate.NewWriter(to, flate.BestSpeed)
		} else {
			packer.Reset(to)
		}
		return packer, err
	})
	for i := range found.Pasties {
		pasty := &found.Pasties[i]
		file, err := files.CreateHeader(&zip.FileHeader{
			Name: names.unique(p.fileName(pasty)), Method: zip.Deflate, Modified: written.UTC(),
		})
		if err != nil {
			return err
		}
		if err := writePieces(file, pasty.Code); err != nil {
			return err
		}
	}
	return files.Close()
}

func writePieces(w io.Writer, text string) error {
	for piece := range pieces(text) {
		if _, err := io.WriteString(w, piece); err != nil {
			return err
		}
	}
	return nil
}

// fileName returns the name of a file for a pasty: its title, as far as every system can have it.
func (p *Pages) fileName(pasty *paste.Pasty) string {
	if name := safeName(pasty.Title); name != "" {
		return name
	}
	name := safeName(pasty.ID)
	if name == "" {
		name = "paste"
	}
	extension := "txt"
	if found, err := p.modules.Languages.FindByName.Do(pasty.Language); err == nil && len(found.Extensions) > 0 {
		extension = found.Extensions[0]
		if extension != strings.ToLower(extension) { // an odd one: BUILD, of Python
			extension = slices.MinFunc(found.Extensions, func(a, b string) int { return len(a) - len(b) })
		}
	}
	return name + "." + extension
}

// maxFileName is the length of a file's name in bytes: less than systems allow, for what unique adds.
const maxFileName = 200

// safeName returns a title as the name of a file in one folder, or "" where nothing is left of it.
func safeName(title string) string {
	var parts []string
	for part := range strings.FieldsFuncSeq(title, func(r rune) bool { return r == '/' || r == '\\' }) {
		part = strings.Map(func(r rune) rune {
			if _, ok := markOf(r); ok || r == utf8.RuneError || r == '\t' || r == '\n' {
				return -1
			}
			if strings.ContainsRune(`<>:"|?*`, r) {
				return '_'
			}
			return r
		}, part)
		if part = strings.TrimRight(strings.TrimSpace(part), ". "); part != "" {
			parts = append(parts, part)
		}
	}
	name := strings.Join(parts, "-")
	if len(name) > maxFileName {
		extension := path.Ext(name)
		if len(extension) > 20 {
			extension = ""
		}
		name = strings.ToValidUTF8(name[:maxFileName-len(extension)], "") + extension
	}
	if base, _, _ := strings.Cut(name, "."); reserved[superscripts.Replace(strings.ToLower(strings.TrimSpace(base)))] {
		name = "_" + name
	}
	return name
}

// superscripts are digits for Windows.
var superscripts = strings.NewReplacer("¹", "1", "²", "2", "³", "3")

// reserved are the names of devices on Windows, with any extension, and with spaces before that.
var reserved = map[string]bool{
	"con": true, "conin$": true, "conout$": true, "prn": true, "aux": true, "nul": true,
	"com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}

// fileNames are those that one folder has, without their case.
type fileNames map[string]int

// unique returns the name, or with a number in it if the folder has one that differs in its case at most.
func (n fileNames) unique(name string) string {
	extension := path.Ext(name)
	base, wanted := strings.TrimSuffix(name, extension), strings.ToLower(name)
	for n[strings.ToLower(name)] > 0 {
		n[wanted]++
		name = base + " (" + strconv.Itoa(n[wanted]) + ")" + extension
	}
	n[strings.ToLower(name)]++
	return name
}
