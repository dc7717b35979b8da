package ctl

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// memory returns an empty file in memory. Creating it draws no random numbers, and it is
// gone when it is closed.
func memory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// pathOf returns a name under which this process can open the file again.
func pathOf(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
