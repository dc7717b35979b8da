package main

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ipamsim/fuzz/mutants"
	"ipamsim/fuzz/mutants/mutant"
)

// visit runs something without a mutant, with a file of marks in dir, and returns the mutants of the
// set that it comes to. env is a variable of its environment.
func visit(dir string, set *mutants.Set, run func(env string) error) (ids []int, err error) {
	marks, err := filepath.Abs(filepath.Join(dir, "marks"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(marks, make([]byte, len(set.Mutants)+1), 0o666); err != nil {
		return nil, err
	}
	if err := run(mutant.Reach + "=" + marks); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(marks)
	for id := 1; id < len(b); id++ {
		if b[id] != 0 {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// rank is a mutant's place in the order that the seed draws: a hash of its key, so that one
// mutant more or less leaves the others where they are.
func (s *settings) rank(m *mutants.Mutant) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s", s.seed, m.Key()))
	return binary.BigEndian.Uint64(h[:])
}

// drawn are the mutants to try: of each part as many, by turns, so that a measurement
// which is interrupted is one of all parts. Each part's are in the order that the seed draws.
// Without parts all are one.
func (s *settings) drawn(set *mutants.Set, reached map[int]bool, parts []mutants.Part) []int {
	rank, of := map[int]uint64{}, make([][]int, max(1, len(parts)))
	for i := range set.Mutants {
		m := &set.Mutants[i]
		if !reached[m.ID] || !strings.Contains(m.Key(), s.only) {
			continue
		}
		rank[m.ID] = s.rank(m)
		part := slices.IndexFunc(parts, func(p mutants.Part) bool { return slices.Contains(p.Folders, path.Dir(m.File)) })
		of[max(0, part)] = append(of[max(0, part)], m.ID)
	}
	most := 0
	for i := range of {
		slices.SortFunc(of[i], func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
		if s.sample > 0 && s.only == "" {
			of[i] = of[i][:min(len(of[i]), s.sample)]
		}
		most = max(most, len(of[i]))
	}
	var all []int
	for n := range most {
		for i := range of {
			if n < len(of[i]) {
				all = append(all, of[i][n])
			}
		}
	}
	return all
}

// result is what is known of a mutant, a *mutants.Result or a *mutants.Trial.
type result interface{ Line() string }

// judgeAll judges the mutants of a sample that are not done, by their keys, and adds each result
// to the file kept.
func (s *settings) judgeAll(set *mutants.Set, sample []int, kept string, done func(key string) bool, judge func(*mutants.Mutant) (result, error)) error {
	out, err := os.OpenFile(kept, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer out.Close()
	for i, id := range sample {
		m := &set.Mutants[id-1]
		if s.only == "" && done(m.Key()) {
			continue
		}
		r, err := judge(m)
		if err != nil {
			return err
		}
		// Mutants chosen by -only are not a sample.
		if s.only == "" {
			if err := json.NewEncoder(out).Encode(r); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "mutants: %d of %d: %s\n", i+1, len(sample), r.Line())
	}
	return nil
}

// eachLine reads the results that a file keeps, a line of JSON each; without the file there
// is none.
func eachLine[T any](path string, do func(*T)) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r T
		// The last line of one that was killed may be half a line.
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			do(&r)
		}
	}
	return nil
}
