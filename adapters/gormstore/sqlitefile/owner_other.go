//go:build !unix

package sqlitefile

// keepOwner does nothing: new files have the rights of their folder.
func keepOwner(string, string) error { return nil }

// takeOwnerOfFolder does nothing: new files have the rights of their folder.
func takeOwnerOfFolder(string) error { return nil }
