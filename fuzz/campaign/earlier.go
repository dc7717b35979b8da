package campaign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/space"
)

// Earlier is an earlier campaign in the same directory.
type Earlier struct {
	Spec queue.Spec
	Over bool // it ended
}

// EarlierIn returns the campaigns of a directory, sorted by identity. An unreadable
// campaign has an empty Spec.
func EarlierIn(dir string) ([]Earlier, error) {
	homes, err := os.ReadDir(filepath.Join(dir, ownDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var out []Earlier
	for _, h := range homes {
		if !h.IsDir() {
			continue
		}
		own := home{own: filepath.Join(dir, ownDir, h.Name())}
		if _, err := os.Stat(own.path(idFile)); err != nil {
			continue // it was killed before it started
		}
		var e Earlier
		_ = readJSON(own.path(specFile), &e.Spec)
		_, err := os.Stat(own.path(overFile))
		e.Over = err == nil
		out = append(out, e)
	}
	return out, nil
}

// sameWithout returns an error for a campaign that leaves out other classes of actions than the
// earlier one: the same seeds would be other scenarios.
func sameWithout(dir string, spec queue.Spec) error {
	all, err := EarlierIn(dir)
	for _, e := range all {
		other := e.Spec
		other.Without = spec.Without
		if other.Same(spec) && !e.Spec.Same(spec) {
			return fmt.Errorf("%s: %w (%s); the same --without resumes it, another --out starts a new one",
				dir, ErrWithout, cmp.Or(space.List(e.Spec.Without), "none"))
		}
	}
	return err
}

// The files in a campaign's own directory.
const (
	ownDir   = ".campaign"
	idFile   = "id"
	specFile = "spec.json"
	overFile = "over" // exists if it ended
)

// specMax is more than a worker would accept.
const specMax = 256 << 20

func readJSON(path string, v any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return json.NewDecoder(io.LimitReader(f, specMax)).Decode(v)
}

// forget removes all earlier campaigns of a directory. The caller holds the lock.
func forget(dir string) error {
	homes, err := os.ReadDir(filepath.Join(dir, ownDir))
	for _, h := range homes {
		if h.IsDir() {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, ownDir, h.Name())))
		}
	}
	return err
}
