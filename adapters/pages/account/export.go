package account

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/adapters/internal/route"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// exportedAccount is everything stored about a user except pastes. It begins with the fields of the API.
type exportedAccount struct {
	view.Self

	CreatedAt   int64           `json:"createdAt"` // here and below, seconds since 1970; 0: never
	ShowTags    bool            `json:"showTags"`
	Admin       bool            `json:"admin"`
	FormerNames []string        `json:"formerNames"`
	Tokens      []exportedToken `json:"tokens"`
	Sessions    []exportedToken `json:"sessions"`
}

type exportedToken struct {
	Name       string `json:"name"`
	Scope      string `json:"scope"`
	CreatedAt  int64  `json:"createdAt"`
	LastUsedAt int64  `json:"lastUsedAt"`
	ExpiresAt  int64  `json:"expiresAt"`
	RevokedAt  int64  `json:"revokedAt"`
}

func exportTokens(tokens []token.Token) []exportedToken {
	exports := make([]exportedToken, len(tokens))
	for i, t := range tokens {
		exports[i] = exportedToken{t.Name, t.Scope.String(), unix(t.CreatedAt), unix(t.LastUsedAt), unix(t.ExpiresAt),
			unix(t.RevokedAt)}
	}
	return exports
}

func unix(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}

var errExporting = fault.New(fault.Exhausted,
	"A download of your data is already running. Try again when it has finished.")

// export answers with everything stored about a user, as a ZIP file. Each user can have one export at a time. It holds
// one paste at a time in memory, and no transaction, so pastes.json and the files may differ in pastes that change
// during the export.
func (p *pages) export(w http.ResponseWriter, r *site.Request, _ url.Values) error {
	account, err := p.exportAccount(r)
	if err != nil {
		return err
	}
	owner := r.Viewer.User.ID
	if _, running := p.exporting.LoadOrStore(owner, true); running {
		return errExporting
	}
	defer p.exporting.Delete(owner)
	site.Enclose(w, r, site.ZipContentType, r.Viewer.User.Name.String()+".zip")
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	e := newExport(p, w, r)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := errors.Join(encoder.Encode(account), e.create("user.json")); err != nil {
		return err
	}
	if _, err := text.WriteTo(e.file); err != nil {
		return err
	}
	if err := e.create("pastes.json"); err != nil {
		return err
	}
	before := "["
	err = e.eachOwn(func(document *paste.Document) error {
		text := bytes.NewBufferString(before)
		before = ",\n"
		if err := view.WritePaste(text, document); err != nil {
			return err
		}
		_, err := text.WriteTo(e.file)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(e.file, strings.TrimSuffix(before, ",\n")+"]"); err != nil {
		return err
	}
	folders := make(filename.Set)
	err = e.eachOwn(func(document *paste.Document) error {
		e.files += int64(len(document.Pasties))
		return p.Pack(e.zip, "pastes/"+folders.Unique(filename.Safe(string(document.ID)))+"/", document)
	})
	if err != nil {
		return err
	}
	return errors.Join(e.zip.Close(), e.send())
}

func (p *pages) exportAccount(r *site.Request) (exportedAccount, error) {
	export, err := p.Modules.Tokens.Export.Do(r.Context(), r.Viewer)
	return exportedAccount{
		Self: view.SelfOf(export.Account), CreatedAt: unix(export.CreatedAt), ShowTags: export.ShowTags, Admin: export.Admin,
		FormerNames: append([]string{}, export.FormerNames...),
		Tokens:      exportTokens(export.Tokens), Sessions: exportTokens(export.Sessions),
	}, err
}

// export writes a ZIP file. It sends nothing while it occupies a slot of the queue, so that a slow reader occupies
// none.
type export struct {
	*pages

	w      http.ResponseWriter
	r      *site.Request
	buffer bytes.Buffer // the part that is not sent yet
	zip    *zip.Writer
	file   io.Writer // the current file
	files  int64     // of pastes
}

func newExport(p *pages, w http.ResponseWriter, r *site.Request) *export {
	e := &export{pages: p, w: w, r: r}
	e.zip = zip.NewWriter(&e.buffer)
	e.zip.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return segments{to}, nil })
	return e
}

func (e *export) create(name string) (err error) {
	e.file, err = e.zip.Create(name)
	return err
}

// send sends the buffer.
func (e *export) send() error {
	_, err := e.buffer.WriteTo(e.w)
	e.buffer = bytes.Buffer{}
	return err
}

// readTime bounds reading one paste for an export, waitTime the wait for a slot and for memory.
const (
	readTime = 10 * time.Second
	waitTime = time.Minute
)

// eachOwn calls pack with each of the reader's pastes, and sends what it writes. It fails once the session has ended.
func (e *export) eachOwn(pack func(*paste.Document) error) error {
	for after := (paste.Cursor{}); ; {
		last, err := e.next(after, pack)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err == nil {
			err = e.send()
		}
		if err != nil {
			return err
		}
		after = last
	}
}

// bytesPerFile is about how much memory a ZIP file takes for each file until its end.
const bytesPerFile = 512

// next calls pack with the reader's next paste after a place, and returns its place. If there is no memory for a paste,
// it reads the paste again once there is.
func (e *export) next(after paste.Cursor, pack func(*paste.Document) error) (last paste.Cursor, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.r.Context()), waitTime)
	defer cancel()
	for {
		last, shortage, err := e.try(ctx, after, pack)
		if shortage == 0 {
			return last, err
		}
		for err := route.Hold(e.w, shortage, true); err != nil; err = route.Hold(e.w, shortage, true) {
			if ctx.Err() != nil {
				return last, err
			}
		}
	}
}

// try is next without waiting for memory. If there is too little, it returns how much the paste takes.
func (e *export) try(
	ctx context.Context, after paste.Cursor, pack func(*paste.Document) error,
) (last paste.Cursor, shortage int64, err error) {
	leave, err := e.Large.Wait(ctx)
	if err != nil {
		return last, 0, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	viewer, err := e.Modules.Tokens.SignIn.Resume(ctx, site.CookieSecret(e.r))
	if err != nil {
		return last, 0, err
	}
	document, err := e.Modules.Pastes.ListOwn.Next(ctx, viewer, after)
	if err != nil {
		return last, 0, err
	}
	if shortage := document.Bytes() + bytesPerFile*e.files; route.Hold(e.w, shortage, false) != nil {
		return last, shortage, nil
	}
	if err := pack(&document); err != nil {
		return last, 0, err
	}
	_ = route.Hold(e.w, int64(e.buffer.Len())+bytesPerFile*e.files, false) // less than before, or hardly more
	return document.Cursor(), 0, nil
}

// compressors are reused, because each takes most of a megabyte.
var compressors = sync.Pool{New: func() any {
	compressor, _ := flate.NewWriter(nil, flate.DefaultCompression) // fails only for other levels
	return compressor
}}

// segments compresses each Write separately, so that it holds no compressor while a client reads.
type segments struct{ to io.Writer }

func (s segments) Write(p []byte) (int, error) {
	err := s.with(func(w *flate.Writer) error {
		_, err := w.Write(p)
		return errors.Join(err, w.Flush())
	})
	return len(p), err
}

func (s segments) Close() error { return s.with((*flate.Writer).Close) }

func (s segments) with(do func(*flate.Writer) error) error {
	w, _ := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(s.to)
	return do(w)
}
