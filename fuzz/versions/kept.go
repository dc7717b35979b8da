package versions

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Kept stores counts, one in each file. Runs are deterministic: the count of a program for a scenario
// and seeds is always the same.
type Kept struct {
	Dir string

	mu   sync.Mutex
	sums map[string]string // checksums of programs, by file
}

// or returns the stored count for a version's runs of a case; if there is none, it calls run and stores
// the count, unless it has an error. A nil Kept stores nothing.
func (k *Kept) or(v *Version, of *Case, from, to int, run func() Count) Count {
	name, ok := k.name(v, of, from, to)
	if !ok {
		return run()
	}
	var n Count
	if b, err := os.ReadFile(name); err == nil && json.Unmarshal(b, &n) == nil {
		return n
	}
	if n = run(); n.Err == "" {
		k.keep(name, n)
	}
	return n
}

// name returns the file of a count. It depends on everything that the count depends on.
func (k *Kept) name(v *Version, of *Case, from, to int) (name string, ok bool) {
	if k == nil {
		return "", false
	}
	text, err := os.ReadFile(of.File)
	if err != nil {
		return "", false
	}
	program, err := k.sum(v.Program)
	if err != nil {
		return "", false
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s %d-%d %t %q %s", program, from, to, of.Recorded, of.Violations, text))
	return filepath.Join(k.Dir, fmt.Sprintf("%x.json", key[:12])), true
}

// sum returns the checksum of a program.
func (k *Kept) sum(program string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, ok := k.sums[program]; ok {
		return s, nil
	}
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	if k.sums == nil {
		k.sums = map[string]string{}
	}
	k.sums[program] = fmt.Sprintf("%x", h.Sum(nil))
	return k.sums[program], nil
}

// keep writes a count. Write errors are ignored: a missing or partial count is computed again.
func (k *Kept) keep(name string, n Count) {
	b, err := json.Marshal(n)
	if err == nil && os.MkdirAll(k.Dir, 0o777) == nil {
		_ = os.WriteFile(name, b, 0o666)
	}
}
