//go:build unix

package sqlitefile

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gluepot/gluepot/domain/fault"
)

// copyOwner gives a file the owner, the group and the mode of the file that it will replace, so that the server can
// open it. It fails with fault.Unavailable when this user may not do that.
func copyOwner(path, target string) error {
	info, err := giveOwner(path, target)
	if err != nil {
		return err
	}
	return fileFault(path, os.Chmod(path, info.Mode().Perm()))
}

// takeOwnerOfFolder gives a new file of root the owner and the group of its folder, so that the server, which runs as
// that user, can open it. It fails with fault.Unavailable when root may not do that.
func takeOwnerOfFolder(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	_, err := giveOwner(path, filepath.Dir(path))
	return err
}

// giveOwner gives a file the owner and the group of another file, and returns the other file's information.
func giveOwner(path, other string) (os.FileInfo, error) {
	info, err := os.Stat(other)
	if err != nil {
		return nil, fileFault(other, err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fault.Unexpected(fmt.Errorf("no owner of %s", other))
	}
	if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
		return nil, fault.Wrap(fault.Unavailable,
			fmt.Sprintf("%s belongs to another user (%d), who could not open the new file. "+
				"Run this as that user, or as root.", other, owner.Uid), err)
	}
	return info, nil
}
