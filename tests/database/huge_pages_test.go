package database

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestHugePagesOfOthers has several programs set huge pages aside, which end in another order: in the end there are as
// many as before, and who has more set aside meanwhile keeps them.
func TestHugePagesOfOthers(t *testing.T) {
	t.Parallel()
	if memory("Hugepagesize") == 0 {
		t.Skip("this machine has no huge pages")
	}
	path := filepath.Join(t.TempDir(), "nr_hugepages") // which takes whatever number it is told
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
		t.Errorf("got %d pages, want the %d of before", got, before)
	}

	giveBack := reserveHugePages(path, 64)
	reserved := read() - before
	if reserved <= 0 {
		t.Errorf("got %d pages more, want some", reserved)
	}
	write(before + reserved + others)
	giveBack()
	if got := read(); got != before+others {
		t.Errorf("got %d pages, want the %d of before and %d of others", got, before, others)
	}
}
