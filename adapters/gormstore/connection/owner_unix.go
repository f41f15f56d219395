//go:build unix

package connection

import (
	"fmt"
	"os"
	"syscall"

	"github.com/gluepot/gluepot/domain/fault"
)

// keepOwner gives a file the owner, the group and the mode of the one that it is to replace. It fails with
// fault.Unavailable when this user may not: the server could not open the file.
func keepOwner(path, replaced string) error {
	info, err := os.Stat(replaced)
	if err != nil {
		return fileFault(replaced, err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fault.Unforeseen(fmt.Errorf("no owner of %s", replaced))
	}
	if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
		return fault.Wrap(fault.Unavailable, fmt.Sprintf("%s belongs to another user (%d), who could not open the new file. "+
			"Run this as that user, or as root.", replaced, owner.Uid), err)
	}
	return fileFault(path, os.Chmod(path, info.Mode().Perm()))
}
