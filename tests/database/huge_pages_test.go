package database

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestHugePagesOfOthers checks that programs which set huge pages aside, and end in another order, leave as many as
// before, and that pages which others set aside in between stay.
func TestHugePagesOfOthers(t *testing.T) {
	t.Parallel()
	if memory("Hugepagesize") == 0 {
		t.Skip("this machine has no huge pages")
	}
	path := filepath.Join(t.TempDir(), "nr_hugepages") // a plain file, which accepts any number
	write := func(number int) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strconv.Itoa(number)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func() int {
		t.Helper()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.Atoi(strings.TrimSpace(string(content)))
		if err != nil {
			t.Fatal(err)
		}
		return number
	}
	const before, others = 7, 1000
	write(before)
	var giveBacks []func()
	for range 8 {
		giveBacks = append(giveBacks, reserveHugePages(path, 64))
	}
	var all sync.WaitGroup // all programs may be killed at once
	for _, giveBack := range giveBacks {
		all.Go(giveBack)
	}
	all.Wait()
	if got := read(); got != before {
		t.Errorf("got %d pages, want %d as before", got, before)
	}

	giveBack := reserveHugePages(path, 64)
	more := read() - before
	if more <= 0 {
		t.Errorf("got %d pages more, want some", more)
	}
	write(before + more + others)
	giveBack()
	if got := read(); got != before+others {
		t.Errorf("got %d pages, want %d from before and %d of others", got, before, others)
	}
}
