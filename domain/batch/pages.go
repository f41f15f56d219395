package batch

// Each calls visit with at most limit items of a list, after a cursor; 0 means no limit. next returns the page after a
// cursor, and the cursor of its last item, or the zero cursor if it is the last page. Nothing in the store waits for
// visit. Each fails with the first error of next or visit.
func Each[P comparable, T any](
	after P, limit int, next func(after P) (items []T, last P, err error), visit func(T) error,
) error {
	var end P
	for visited := 0; ; {
		items, last, err := next(after)
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := visit(item); err != nil {
				return err
			}
			if visited++; visited == limit {
				return nil
			}
		}
		if after = last; after == end {
			return nil
		}
	}
}

// Last returns the last item of a page. If the page has fewer items than limit, it is the last one, and Last returns
// the zero value.
func Last[T any](page []T, limit int) (last T) {
	if len(page) == limit {
		last = page[limit-1]
	}
	return last
}
