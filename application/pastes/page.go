package pastes

import "github.com/gluepot/gluepot/domain/paste"

// pageOf asks for one more paste than a page has, and returns the page and whether there are others after it.
//
//nolint:unparam // the pages have one size today, each by a constant of its own
func pageOf(size int, find func(limit int) ([]paste.Listed, error)) (page []paste.Listed, more bool, err error) {
	listed, err := find(size + 1)
	if err != nil {
		return nil, false, err
	}
	return listed[:min(len(listed), size)], len(listed) > size, nil
}
