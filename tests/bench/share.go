package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A share is a part of one processor, given out in short pieces: with longer ones a node would stand still long enough
// for requests to queue before it, which would then share statements for that reason only.
const (
	sharePart   = time.Millisecond
	sharePeriod = 4 * time.Millisecond
)

// share bounds what processes take of the processor.
type share struct{ folder string }

// newShare returns one of that name. It needs the right to make control groups, of either version.
func newShare(name string) (*share, error) {
	const root = "/sys/fs/cgroup"
	part, period := strconv.FormatInt(sharePart.Microseconds(), 10), strconv.FormatInt(sharePeriod.Microseconds(), 10)
	s := &share{folder: filepath.Join(root, "cpu", name)}
	settings := [][2]string{{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", part}}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		s.folder = filepath.Join(root, name)
		settings = [][2]string{{"cpu.max", part + " " + period}}
		// it shows below when that has failed
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+cpu"), 0o600)
	}
	if err := os.Mkdir(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("bound a process: %w", err)
	}
	for _, setting := range settings {
		file, err := os.OpenFile(filepath.Join(s.folder, setting[0]), os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString(setting[1])
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			s.remove()
			return nil, fmt.Errorf("bound a process: %w", err)
		}
	}
	return s, nil
}

// add puts a process under it.
func (s *share) add(pid int) error {
	return os.WriteFile(filepath.Join(s.folder, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600)
}

// remove removes it when its processes have ended.
func (s *share) remove() {
	for range 100 {
		if os.Remove(s.folder) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
