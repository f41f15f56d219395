package database

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// hugePages is where Linux says, and is told, how many huge pages are set aside.
const hugePages = "/proc/sys/vm/nr_hugepages"

// hugePagesScript sets $2 pages more aside, of which $1 is the number, says how many it got, and waits until its
// standard input ends, which it does when this process ends, however that happens: nobody else would give the memory
// back. Servers keep what they have until they end too. It gives back as many as it got, because others may have some
// set aside meanwhile, too; one of them at a time.
const hugePagesScript = `trap '' PIPE; exec 9<"$1"; flock 9; before=$(cat "$1") && echo $((before + $2)) >"$1"
more=$(($(cat "$1") - before)); flock -u 9; echo $more; read -r end
flock 9; [ $more -gt 0 ] && now=$(cat "$1") && echo $((now > more ? now - more : 0)) >"$1"`

// reserveHugePages has the kernel set aside huge pages for the memory that servers share, beside those that it has, and
// returns what gives them back. It needs the right to, and memory in pieces that large; without, it leaves everything
// as it was. Their number is at the path.
func reserveHugePages(path string, mib int) (giveBack func()) {
	nothing := func() {}
	size := memory("Hugepagesize") // 0 where there are none
	if size == 0 {
		return nothing
	}
	want := mib<<10/size + 1
	script := exec.Command("sh", "-c", hugePagesScript, "sh", path, strconv.Itoa(want))
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt must reach it by its standard input only
	alive, err := script.StdinPipe()
	if err != nil {
		return nothing
	}
	answer, err := script.StdoutPipe()
	if err != nil || script.Start() != nil {
		return nothing
	}
	giveBack = func() {
		_ = alive.Close()
		_ = script.Wait()
	}
	var got int
	if _, err := fmt.Fscan(answer, &got); err != nil || got < want {
		giveBack()
		return nothing
	}
	return giveBack
}

// hugePagesTaken returns how many MiB of huge pages programs of this machine have, or are promised.
func hugePagesTaken() int {
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
