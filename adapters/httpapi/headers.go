package httpapi

// Header values that do not change are made once: a slice for each request would be an allocation.
var (
	nosniff         = []string{"nosniff"}
	closeConnection = []string{"close"}
	jsonContentType = []string{mediaJSON}
)

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
