//go:build !linux

package ctl

import (
	"fmt"
	"os"
	"sync/atomic"
)

// files counts files of this process: their names draw no random numbers.
var files atomic.Int64

// memory returns an empty file that has no name any more. It is gone when it is closed.
func memory(name string) (*os.File, error) {
	path := fmt.Sprintf("%s/ipamsim-%d-%d-%s", os.TempDir(), os.Getpid(), files.Add(1), name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return f, os.Remove(path)
}

// pathOf returns a name under which this process can open the file again, at the offset
// where it stands.
func pathOf(f *os.File) string { return fmt.Sprintf("/dev/fd/%d", f.Fd()) }
