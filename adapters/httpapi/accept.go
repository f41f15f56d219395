package httpapi

import (
	"strconv"
	"strings"
)

// prefers reports whether Accept names a media type and does not rank another one above it, for which the range counts
// that says most about it (RFC 9110, 12.5.1).
func prefers(accept []string, wanted, otherwise string) bool {
	if !short(accept) {
		return false
	}
	asked, plain := 0, [...]int{-1, -1, -1} // the weights of the three ranges below, -1 where there is none
	family, _, _ := strings.Cut(otherwise, "/")
	for _, line := range accept {
		for mediaRange := range strings.SplitSeq(line, ",") {
			mediaType, parameters, _ := strings.Cut(mediaRange, ";")
			mediaType = strings.Trim(mediaType, " \t")
			if strings.EqualFold(mediaType, wanted) {
				asked = max(asked, quality(parameters))
			}
			for i, covering := range [...]string{otherwise, family + "/*", "*/*"} {
				if strings.EqualFold(mediaType, covering) {
					plain[i] = max(plain[i], quality(parameters))
				}
			}
		}
	}
	for _, weight := range plain {
		if weight >= 0 {
			return asked > 0 && asked >= weight
		}
	}
	return asked > 0
}

// acceptsGzip reports whether an answer may be compressed with gzip (RFC 9110, 12.5.3).
func acceptsGzip(acceptEncoding []string) bool {
	if !short(acceptEncoding) {
		return false
	}
	others := false
	for _, line := range acceptEncoding {
		for element := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(element, ";")
			switch coding = strings.Trim(coding, " \t"); {
			case strings.EqualFold(coding, "gzip"):
				return quality(parameters) > 0
			case coding == "*":
				others = quality(parameters) > 0
			}
		}
	}
	return others
}

// quality returns the weight among the parameters of a media range, in thousandths: 1000 when there is none, and 0,
// which means "not acceptable", when it is not one (RFC 9110, 12.4.2).
func quality(parameters string) int {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.Trim(parameter, " \t"), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		whole, fraction, _ := strings.Cut(value, ".")
		if len(whole) != 1 || len(fraction) > 3 {
			return 0
		}
		weight, err := strconv.ParseUint(whole+(fraction + "000")[:3], 10, 16)
		if err != nil || weight > 1000 {
			return 0
		}
		return int(weight)
	}
	return 1000
}
