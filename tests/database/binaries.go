package database

import "syscall"

// Binaries returns the folder of PostgreSQL's programs on this machine, for tests that start servers in a way of their
// own.
func Binaries() (string, error) { return findBinaries() }

// ServerUser returns the user to run such a server as, to whom the folder is given, or nil for the current one:
// PostgreSQL refuses to run as root.
func ServerUser(folder string) (*syscall.Credential, error) { return serverCredential(folder) }
