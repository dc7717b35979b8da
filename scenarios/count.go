package scenarios

import (
	"os"
	"sync"
)

// CountEnv names a file to which every run appends a byte, in every process of a test: CountWoken if an
// outside event woke its bubble, CountRun if not. So make test knows the rate over all its binaries,
// their cells and their commands, some of which are killed.
const CountEnv = "IPAMSIM_RUNS"

// What a run adds.
const (
	CountRun   = '.'
	CountWoken = 'w'
)

// counter is the file; nil if runs are not counted.
var counter = sync.OnceValue(func() *os.File {
	path := os.Getenv(CountEnv)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil // then the count is too small, which who reads it sees
	}
	return f
})

// count a run that something outside woke so often.
func count(foreign uint64) {
	f := counter()
	if f == nil {
		return
	}
	what := []byte{CountRun}
	if foreign > 0 {
		what[0] = CountWoken
	}
	_, _ = f.Write(what) // appended, so no byte is lost
}
