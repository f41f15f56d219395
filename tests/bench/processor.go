package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// clockTick is the unit of the processor times under /proc, in seconds: USER_HZ, which is the same on every Linux that
// Go runs on.
const clockTick = 0.01

// processStat are the fields of /proc/PID/stat that follow the program's name. The first is number 3 in proc(5).
func processStat(pid int) (name string, fields []string) {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")) // not there on other systems
	opening, closing := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if opening < 0 || closing < opening {
		return "", nil
	}
	return string(text[opening+1 : closing]), strings.Fields(string(text[closing+1:]))
}

// ticks sums fields of proc(5), by their numbers.
func ticks(fields []string, numbers ...int) (sum float64) {
	for _, number := range numbers {
		if i := number - 3; i < len(fields) {
			n, _ := strconv.ParseFloat(fields[i], 64) // digits
			sum += n
		}
	}
	return sum
}

// What proc(5) calls them: of a process, and of its children that have ended.
const (
	parentField                = 4
	userField, systemField     = 14, 15
	endedUserField, endedField = 16, 17
)

// processorTime returns for how many seconds a process has had a processor, its threads included.
func processorTime(pid int) float64 {
	_, fields := processStat(pid)
	return ticks(fields, userField, systemField) * clockTick
}

// databaseTime returns for how many seconds the processes of the database server have had a processor, also those that
// have ended. It returns 0 where they are not on this machine, or in a container.
func (i *installation) databaseTime() (float64, error) {
	var backend int
	if err := i.db.QueryRow("SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return 0, fmt.Errorf("ask for the server's process: %w", err)
	}
	name, fields := processStat(backend)
	if name != "postgres" {
		return 0, nil
	}
	postmaster := strconv.Itoa(int(ticks(fields, parentField)))
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	var sum float64
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(path)) // digits
		switch _, fields := processStat(pid); {
		case filepath.Base(path) == postmaster:
			sum += ticks(fields, userField, systemField, endedUserField, endedField)
		case len(fields) > 1 && fields[parentField-3] == postmaster:
			sum += ticks(fields, userField, systemField)
		}
	}
	return sum * clockTick, nil
}
