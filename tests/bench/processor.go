package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// clockTick is the unit of processor times under /proc, in seconds: USER_HZ, which is the same on every Linux that Go
// supports.
const clockTick = 0.01

// processStat returns the program's name in /proc/PID/stat, and the fields after it. The first of them is number 3 in
// proc(5).
func processStat(pid int) (name string, fields []string) {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")) // missing on other systems
	start, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if start < 0 || end < start {
		return "", nil
	}
	return string(text[start+1 : end]), strings.Fields(string(text[end+1:]))
}

// ticks returns the sum of fields, by their numbers in proc(5).
func ticks(fields []string, numbers ...int) (sum float64) {
	for _, number := range numbers {
		if i := number - 3; i < len(fields) {
			n, _ := strconv.ParseFloat(fields[i], 64) // digits
			sum += n
		}
	}
	return sum
}

// The numbers of fields in proc(5), of a process and of its ended children.
const (
	parentField                      = 4
	userField, systemField           = 14, 15
	childUserField, childSystemField = 16, 17
)

// processorTime returns the processor time of a process with all its threads, in seconds.
func processorTime(pid int) float64 {
	_, fields := processStat(pid)
	return ticks(fields, userField, systemField) * clockTick
}

// databaseTime returns the processor time of all processes of the database server, including ended ones, in seconds. It
// returns 0 if they are on another machine or in a container.
func (i *installation) databaseTime() (float64, error) {
	var backend int
	if err := i.db.QueryRow("SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return 0, fmt.Errorf("find the server's process: %w", err)
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
			sum += ticks(fields, userField, systemField, childUserField, childSystemField)
		case len(fields) > 1 && fields[parentField-3] == postmaster:
			sum += ticks(fields, userField, systemField)
		}
	}
	return sum * clockTick, nil
}
