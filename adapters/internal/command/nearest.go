package command

// Nearest returns the known name that differs from what was typed in the fewest letters, the first of several, if there is
// one that differs in at most that many: left out, added, replaced, or swapped with the next (Damerau and Levenshtein).
func Nearest(typed string, known []string, most int) (nearest string, ok bool) {
	for _, name := range known {
		if d := distance(typed, name, most); d <= most {
			nearest, most, ok = name, d-1, true
		}
	}
	return nearest, ok
}

// distance counts in how many letters two names differ, no letter being changed twice. Beyond most it may be any larger number.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1) // rows of the table, for i-2 and i-1 letters of a
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
