package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A share is a part of one processor, in short slices. With longer ones a node would pause so long that requests queue,
// which would then share statements only for that reason.
const (
	sharePart   = time.Millisecond
	sharePeriod = 4 * time.Millisecond
)

// share limits the processor time of processes.
type share struct{ folder string }

// newShare creates a share with this name. It needs the right to create control groups, of either version.
func newShare(name string) (*share, error) {
	const root = "/sys/fs/cgroup"
	part, period := strconv.FormatInt(sharePart.Microseconds(), 10), strconv.FormatInt(sharePeriod.Microseconds(), 10)
	s := &share{folder: filepath.Join(root, "cpu", name)}
	settings := [][2]string{{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", part}}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		s.folder = filepath.Join(root, name)
		settings = [][2]string{{"cpu.max", part + " " + period}}
		// If this fails, writing the settings fails, too.
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+cpu"), 0o600)
	}
	if err := os.Mkdir(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("limit a process: %w", err)
	}
	for _, setting := range settings {
		file, err := os.OpenFile(filepath.Join(s.folder, setting[0]), os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString(setting[1])
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			s.remove()
			return nil, fmt.Errorf("limit a process: %w", err)
		}
	}
	return s, nil
}

// add adds a process.
func (s *share) add(pid int) error {
	return os.WriteFile(filepath.Join(s.folder, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600)
}

// remove removes the share once its processes have ended.
func (s *share) remove() {
	for range 100 {
		if os.Remove(s.folder) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
