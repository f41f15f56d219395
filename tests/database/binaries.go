package database

import "syscall"

// Binaries returns the folder of PostgreSQL's programs on this machine, for tests that start servers themselves.
func Binaries() (string, error) { return findBinaries() }

// ServerUser makes the folder belong to the user to run a server as, and returns that user, or nil for the current one:
// PostgreSQL refuses to run as root.
func ServerUser(folder string) (*syscall.Credential, error) { return serverCredential(folder) }
