package whereabouts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
)

// flat is what upstream's installer writes to whereabouts.conf on each node
// (script/lib.sh, generateWhereaboutsConf, v0.9.4). The kubeconfig must be named
// or the parser refuses; nobody opens it here.
const flat = `{"datastore":"kubernetes","kubernetes":{"kubeconfig":"/etc/cni/net.d/whereabouts.d/whereabouts.kubeconfig"},"reconciler_cron_expression":"30 4 * * *"}`

// flatFile is the path of this process' whereabouts.conf.
//
// The file has no name where the system can open an unnamed one (Linux), so
// that nothing is left behind even by a process that is killed. Elsewhere it
// lies in the temporary directory, and Close removes it. It must be made outside
// of every bubble: the temporary name is drawn from the caller's random stream,
// and the first run of a process would differ from the second.
var flatFile = sync.OnceValues(func() (string, error) {
	f, err := os.CreateTemp(shared(), "ipamsim-whereabouts-")
	if err != nil {
		return "", err
	}
	if _, err := f.WriteString(flat); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	unnamed := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if b, err := os.ReadFile(unnamed); err == nil && bytes.Equal(b, []byte(flat)) {
		kept = f // or its finalizer would close it
		return unnamed, os.Remove(f.Name())
	}
	named = f.Name()
	return named, f.Close()
})

var (
	kept  *os.File
	named string
)

// Close gives back the file, and removes it where it has a name. No network can
// be read and no plugin executed afterwards.
func Close() error {
	if kept != nil {
		return kept.Close()
	}
	if named != "" {
		return os.Remove(named)
	}
	return nil
}

// shared is a directory in memory, if there is one.
func shared() string {
	const dir = "/dev/shm"
	if s, err := os.Stat(dir); err == nil && s.IsDir() {
		return dir
	}
	return ""
}
