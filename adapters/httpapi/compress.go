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

// compressible are the media types whose answers are compressed. Raw text is not.
var compressible = []string{
	mediaHTML, mediaJSON, mediaProblem, "text/css", "text/javascript", "image/svg+xml", "application/atom+xml",
	"application/yaml",
}

// minCompressed is the shortest body that is compressed: less fits into one packet.
const minCompressed = gzhttp.DefaultMinSize

var compress = func() func(http.Handler) http.HandlerFunc {
	wrapper, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(func(string) bool { return true }),
		gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.SetContentType(false))
	if err != nil { // a mistake in the options above
		panic(err)
	}
	return wrapper
}()

// compresses reports whether an answer may be compressed. A page that shows a secret forbids it (site.ShowsSecret): an
// attacker who controls other text on the page could guess the secret from the length (the BREACH attack).
func compresses(header http.Header, contentType []string, body []byte) bool {
	_, secret := header[gzhttp.HeaderNoCompression]
	delete(header, gzhttp.HeaderNoCompression)
	if secret || len(body) < minCompressed || header["Content-Encoding"] != nil || len(contentType) == 0 {
		return false
	}
	media, _, _ := strings.Cut(contentType[0], ";")
	return slices.Contains(compressible, media)
}

// representation is a body in a content coding, or in none.
type representation struct {
	coding string
	body   []byte
}

// encode returns a body in the coding that a client prefers. It is complete before any of it is sent, so that a slow
// client does not occupy a compressor.
func encode(r *http.Request, body []byte) representation {
	recorder := &encodedBody{header: make(http.Header)}
	compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(body) // which cannot fail
	})).ServeHTTP(recorder, r)
	if coding := recorder.header.Get("Content-Encoding"); coding != "" {
		return representation{coding, recorder.text}
	}
	return representation{body: body}
}

// encodedBody is an http.ResponseWriter that keeps a compressed body, and drops one that is not.
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

// commonEncodings are the most common values of Accept-Encoding.
var commonEncodings = []string{"gzip", "gzip, deflate", "gzip, deflate, br", "gzip, deflate, br, zstd"}

// compressedFiles caches what encode returns for the program's own files and commonEncodings, by fileKey.
var compressedFiles sync.Map

type fileKey struct {
	sum       uint64
	encodings string
}

// encodeFile is encode for one of the program's own files. It caches the result.
func encodeFile(r *http.Request, body []byte) representation {
	key := fileKey{xxhash.Sum64(body), r.Header.Get("Accept-Encoding")}
	if value, ok := compressedFiles.Load(key); ok {
		return value.(representation) //nolint:forcetypeassert // nothing else is stored
	}
	result := encode(r, body)
	if result.coding != "" && slices.Contains(commonEncodings, key.encodings) {
		compressedFiles.Store(key, result)
	}
	return result
}
