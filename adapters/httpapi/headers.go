package httpapi

import "net/http"

// Header values that do not change are made once: a slice for each request would be an allocation.
var (
	nosniff         = []string{"nosniff"}
	nothingAllowed  = []string{"default-src 'none'; frame-ancestors 'none'"}
	sandboxed       = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"}
	noReferrer      = []string{"no-referrer"}
	closeConnection = []string{"close"}
	jsonContentType = []string{mediaJSON}
	noindex         = []string{"noindex"} // for search engines
)

// guard is for the browser that shows an answer: its type is what the answer says, it may load and run nothing and stand in
// no frame, and tells no site where it came from, as the path of a paste may be all that keeps it from others.
func guard(answer http.Header) {
	answer["X-Content-Type-Options"] = nosniff
	answer["Content-Security-Policy"] = nothingAllowed
	answer["Referrer-Policy"] = noReferrer
}

// maxListHeader is how much is read of headers that are lists. Programs send far less; what is longer is ignored.
const maxListHeader = 1 << 10

// short reports whether the lines of a header are at most maxListHeader together.
func short(lines []string) bool {
	length := 0
	for _, line := range lines {
		if length += len(line) + len(","); length > maxListHeader {
			return false
		}
	}
	return true
}
