package paste

import (
	"slices"
	"strings"
)

// What the tags of a paste may be.
const (
	MaxTags      = 100 // how many
	MaxTagLength = 100 // in characters
)

// ParseTags returns the tags that the texts hold, each one or several separated by commas: without surrounding
// space, empty ones and duplicates, in byte order. It fails with a fault.Invalid when there are more than
// MaxTags, or one is longer than MaxTagLength or not valid UTF-8.
func ParseTags(texts ...string) ([]string, error) {
	tags := splitTags(texts)
	if len(tags) > MaxTags {
		return nil, invalid("tags: there are more than %d.", MaxTags)
	}
	for _, tag := range tags {
		if err := checkText("tags", tag, MaxTagLength); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

// splitTags is ParseTags without limits.
func splitTags(texts []string) []string {
	var tags []string
	for _, text := range texts {
		for tag := range strings.SplitSeq(text, ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				tags = append(tags, tag)
			}
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}
