package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// compressible are the media types of answers that are compressed. Raw text is not.
var compressible = []string{
	mediaHTML, mediaJSON, mediaProblem, "text/css", "text/javascript", "image/svg+xml", "application/atom+xml",
	"application/yaml",
}

// minCompressed is the shortest body that is compressed: less fits into one packet.
const minCompressed = gzhttp.DefaultMinSize

var compress = func() func(http.Handler) http.HandlerFunc {
	wrapper, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(func(string) bool { return true }),
		gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.SetContentType(false))
	if err != nil { // these options are valid
		panic(err)
	}
	return wrapper
}()

// compresses reports whether an answer may be compressed. A page that shows a secret says that it must not
// (site.ShowsSecret): the length would tell of the secret who can have something beside it (the attack BREACH).
func compresses(header http.Header, contentType []string, body []byte) bool {
	_, secret := header[gzhttp.HeaderNoCompression]
	delete(header, gzhttp.HeaderNoCompression)
	if secret || len(body) < minCompressed || header["Content-Encoding"] != nil || len(contentType) == 0 {
		return false
	}
	media, _, _ := strings.Cut(contentType[0], ";")
	return slices.Contains(compressible, media)
}

// encoded is a body in a coding. The zero coding is none.
type encoded struct {
	coding string
	body   []byte
}

// encode returns a body as a client takes it. It is complete before any of it is sent, so that a client that reads
// slowly holds no compressor.
func encode(r *http.Request, body []byte) encoded {
	to := &encodedBody{header: make(http.Header)}
	compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(body) // which cannot fail
	})).ServeHTTP(to, r)
	if coding := to.header.Get("Content-Encoding"); coding != "" {
		return encoded{coding, to.text}
	}
	return encoded{body: body}
}

// encodedBody is the http.ResponseWriter of a compressed body. It drops one that is not.
type encodedBody struct {
	header http.Header
	text   []byte
}

func (b *encodedBody) Header() http.Header { return b.header }
func (*encodedBody) WriteHeader(int)       {}

func (b *encodedBody) Write(p []byte) (int, error) {
	if b.header["Content-Encoding"] != nil {
		b.text = append(b.text, p...)
	}
	return len(p), nil
}

// keptEncodings are what browsers and programs accept most.
var keptEncodings = []string{"gzip", "gzip, deflate", "gzip, deflate, br", "gzip, deflate, br, zstd"}

// kept has the bodies of the program's own files as encode returns them for keptEncodings, by keptKey.
var kept sync.Map

type keptKey struct {
	sum       uint64
	encodings string
}

// encodeFile is encode for one of the program's files.
func encodeFile(r *http.Request, body []byte) encoded {
	key := keptKey{xxhash.Sum64(body), r.Header.Get("Accept-Encoding")}
	if found, ok := kept.Load(key); ok {
		return found.(encoded) //nolint:forcetypeassert // nothing else is kept
	}
	made := encode(r, body)
	if made.coding != "" && slices.Contains(keptEncodings, key.encodings) {
		kept.Store(key, made)
	}
	return made
}
