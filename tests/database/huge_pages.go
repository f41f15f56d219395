package database

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// hugePages is the file of Linux with the number of huge pages that are set aside.
const hugePages = "/proc/sys/vm/nr_hugepages"

// hugePagesScript sets $2 more pages aside, whose number is in the file $1, and prints how many it got. It gives back
// as many when its standard input ends, which happens however this process ends. Servers keep theirs until they end,
// too. Other programs may also set pages aside; the lock lets one at a time change the number.
const hugePagesScript = `trap '' PIPE; exec 9<"$1"; flock 9; before=$(cat "$1") && echo $((before + $2)) >"$1"
more=$(($(cat "$1") - before)); flock -u 9; echo $more; read -r end
flock 9; [ $more -gt 0 ] && now=$(cat "$1") && echo $((now > more ? now - more : 0)) >"$1"`

// reserveHugePages makes the kernel set aside more huge pages for servers' shared memory, and returns a function that
// gives them back. It changes nothing without the right to do so, or without enough contiguous memory. path is the file
// with their number.
func reserveHugePages(path string, mib int) (giveBack func()) {
	none := func() {}
	size := memory("Hugepagesize") // 0 where there are none
	if size == 0 {
		return none
	}
	want := mib<<10/size + 1
	script := exec.Command("sh", "-c", hugePagesScript, "sh", path, strconv.Itoa(want))
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt must reach it by its standard input only
	alive, err := script.StdinPipe()
	if err != nil {
		return none
	}
	answer, err := script.StdoutPipe()
	if err != nil || script.Start() != nil {
		return none
	}
	giveBack = func() {
		_ = alive.Close()
		_ = script.Wait()
	}
	var got int
	if _, err := fmt.Fscan(answer, &got); err != nil || got < want {
		giveBack()
		return none
	}
	return giveBack
}

// hugePagesInUse returns how many MiB of huge pages programs have in use or reserved.
func hugePagesInUse() int {
	return (memory("HugePages_Total") - memory("HugePages_Free") + memory("HugePages_Rsvd")) * memory("Hugepagesize") >> 10
}

// memory returns a value of /proc/meminfo, in KiB if it is a size, or 0 if it is missing.
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
