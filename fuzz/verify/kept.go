package verify

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ipamsim/sim/por"
)

// kept is the stored runs of a search, one on each line (see pack). The name of the file contains
// everything that the runs depend on: the program, the scenario, the limit of faults.
type kept struct {
	f    *os.File
	logs []*por.Log
}

// lineMax is far more than a run of a small scenario takes.
const lineMax = 256 << 20

func open(cfg Config, w *world) (*kept, error) {
	if err := os.MkdirAll(cfg.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	b, err := json.Marshal(struct {
		Build string
		World *world
	}{cfg.Build, w})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	name := filepath.Join(cfg.Dir, "runs-"+hex.EncodeToString(sum[:6]))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	k := &kept{f: f}
	end, err := k.read()
	if err == nil { // overwrite a partial line of a search that was killed
		err = errors.Join(f.Truncate(end), seek(f, end))
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("verify: %s: %w", name, err)
	}
	return k, nil
}

func seek(f *os.File, at int64) error {
	_, err := f.Seek(at, io.SeekStart)
	return err
}

// read reads the stored runs. end is the position after the last complete line.
func (k *kept) read() (end int64, err error) {
	s := bufio.NewScanner(k.f)
	s.Buffer(nil, lineMax)
	for s.Scan() {
		l, err := unpack(s.Bytes())
		if err != nil {
			return end, nil
		}
		k.logs = append(k.logs, l)
		end += int64(len(s.Bytes())) + 1
	}
	return end, s.Err()
}

func (k *kept) keep(l *por.Log) error {
	b, err := pack(l)
	if err != nil {
		return err
	}
	_, err = k.f.Write(append(b, '\n'))
	return err
}

// pack returns a log as a line, compressed to a tenth of its JSON.
func pack(l *por.Log) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(w).Encode(l), w.Close()); err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, b.Bytes()), nil
}

func unpack(line []byte) (*por.Log, error) {
	b, err := base64.StdEncoding.AppendDecode(nil, line)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	l := &por.Log{}
	if err := json.NewDecoder(io.LimitReader(r, lineMax)).Decode(l); err != nil {
		return nil, err
	}
	return l, l.Check()
}

func (k *kept) close() { _ = k.f.Close() }
