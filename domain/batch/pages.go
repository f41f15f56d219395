package batch

// Each calls visit with at most limit items of a list; 0 is no limit. The function more returns the list page by page.
// Each begins after a place, and ends when more returns the zero place. Nothing in the store waits for visit. An error
// of visit ends the list and is returned.
func Each[P comparable, T any](after P, limit int, more func(after P) (found []T, last P, err error),
	visit func(T) error) error {
	var end P
	for shown := 0; ; {
		found, last, err := more(after)
		if err != nil {
			return err
		}
		for _, one := range found {
			if err := visit(one); err != nil {
				return err
			}
			if shown++; shown == limit {
				return nil
			}
		}
		if after = last; after == end {
			return nil
		}
	}
}

// Last returns the last item of a page, or the zero value when it has less than limit: then there are no others after
// it.
func Last[T any](found []T, limit int) (last T) {
	if len(found) == limit {
		last = found[limit-1]
	}
	return last
}
