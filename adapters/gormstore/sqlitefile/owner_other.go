//go:build !unix

package sqlitefile

// copyOwner does nothing: new files have the rights of their folder.
func copyOwner(string, string) error { return nil }

// takeOwnerOfFolder does nothing: new files have the rights of their folder.
func takeOwnerOfFolder(string) error { return nil }
