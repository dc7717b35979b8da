package scratch

import (
	"fmt"
	"os"
	"syscall"
)

// memory is Linux's directory in memory.
const memory = "/dev/shm"

// roomMin is ten times what an etcd has written after a hundred runs, in bytes.
const roomMin = 64 << 20

// Parent returns the parent of scratch directories: memory, because a run is not worth a disk
// write, or the temporary directory if memory has no room (as in some containers). The error
// reports the available room.
func Parent() (string, error) {
	inMemory, inTemp := free(memory), free(os.TempDir())
	switch {
	case inMemory >= roomMin:
		return memory, nil
	case inTemp >= roomMin:
		return os.TempDir(), nil
	}
	return "", fmt.Errorf("no room for what a run writes: %s has %d KiB free, %s %d KiB; want %d MiB in one of them",
		memory, inMemory>>10, os.TempDir(), inTemp>>10, roomMin>>20)
}

// free returns how many bytes can be written to a directory; 0 if it is not a directory. A
// tmpfs without a limit reports zero blocks.
func free(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || syscall.Access(dir, 2) != nil {
		return 0
	}
	if s.Blocks == 0 {
		return roomMin
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
