package database

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// hugePages is where Linux says, and is told, how many pages of hugePageSize are set aside.
const hugePages = "/proc/sys/vm/nr_hugepages"

// giveBackScript waits until its standard input ends, which it does when this process ends, however that happens: nobody else would
// give the memory back. Servers keep what they have until they end too. $1 is how many pages there were.
const giveBackScript = `read -r end; echo "$1" >` + hugePages

// reserveHugePages has the kernel set aside huge pages for the memory that servers share, beside those that it has, and returns what gives
// them back. It needs the right to, and memory in pieces that large; without, it leaves everything as it was.
func reserveHugePages(mib int) (giveBack func()) {
	nothing := func() {}
	size := memory("Hugepagesize") // 0 where there are none
	before, err := numberIn(hugePages)
	if err != nil || size == 0 {
		return nothing
	}
	script := exec.Command("sh", "-c", giveBackScript, "sh", strconv.Itoa(before))
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt must reach it by its standard input only
	alive, err := script.StdinPipe()
	if err != nil || script.Start() != nil {
		return nothing
	}
	giveBack = func() {
		_ = alive.Close()
		_ = script.Wait()
	}
	want := before + mib<<10/size + 1
	if err := os.WriteFile(hugePages, []byte(strconv.Itoa(want)), 0); err != nil {
		giveBack()
		return nothing
	}
	if got, err := numberIn(hugePages); err != nil || got < want {
		giveBack()
		return nothing
	}
	return giveBack
}

// HugePagesTaken returns how many MiB of huge pages programs of this machine have, or are promised.
func HugePagesTaken() int {
	return (memory("HugePages_Total") - memory("HugePages_Free") + memory("HugePages_Rsvd")) * memory("Hugepagesize") >> 10
}

// memory returns what /proc/meminfo has under that name, in KiB if it is a size; 0 where there is no such thing.
func memory(name string) int {
	content, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(content)) {
		if label, rest, _ := strings.Cut(line, ":"); label == name {
			value, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return value
		}
	}
	return 0
}

func numberIn(path string) (int, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return number, nil
}
