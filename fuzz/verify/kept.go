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

// kept are the runs of a search, a line each (see pack), in a file that is named by all that they
// depend on: the program, the scenario, the bound on faults.
type kept struct {
	f    *os.File
	logs []*por.Log
}

// lineMax is far more than a run of a small world takes.
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
	if err == nil { // a line that a killed search left half written is written again
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

// read the runs that are there. End is after the last whole line.
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

// pack a log into a line: a tenth of its JSON.
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
