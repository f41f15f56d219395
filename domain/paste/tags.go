package paste

import (
	"math"
	"slices"
	"strings"
)

// What the tags of a paste may be.
const (
	MaxTags      = 100 // how many
	MaxTagLength = 100 // in characters
)

// ParseTags returns the tags in the texts, which are separated by commas: trimmed, without empty ones and duplicates, in byte
// order. It fails with a fault.Invalid when there are more than MaxTags, or one is longer than MaxTagLength or not valid UTF-8.
func ParseTags(texts ...string) ([]string, error) {
	tags, fit := splitTags(texts, MaxTags)
	if !fit {
		return nil, invalid("tags", "there are more than %d.", MaxTags)
	}
	for _, tag := range tags {
		if err := checkText("tags", tag, MaxTagLength); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

// splitTags is ParseTags with another limit of their number and none of their length. It stops at the first tag beyond the
// limit.
func splitTags(texts []string, limit int) (tags []string, fit bool) {
	known := make(map[string]bool)
	for _, text := range texts {
		for tag := range strings.SplitSeq(text, ",") {
			if tag = strings.TrimSpace(tag); tag == "" || known[tag] {
				continue
			}
			if len(tags) == limit {
				return nil, false
			}
			tags, known[tag] = append(tags, tag), true
		}
	}
	slices.Sort(tags)
	return tags, true
}

// anyTag reports whether the texts hold a tag.
func anyTag(texts []string) bool {
	_, none := splitTags(texts, 0)
	return !none
}

// sameTags reports whether the texts are the stored tags, which may be more than MaxTags after an import.
func sameTags(texts, stored []string) bool {
	before, _ := splitTags(stored, math.MaxInt)
	tags, fit := splitTags(texts, len(before))
	return fit && slices.Equal(tags, before)
}
