package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// The files of a worker process: 0, 1 and 2 belong to upstream.
const (
	fileIn  = 3
	fileOut = 4
)

// Run is a worker process, in its directory: serve answers what is asked. As soon as
// nobody can ask any more, even in the middle of a run, the directory goes, and exit has to
// end the process.
func Run(dir string, exit func(), serve func(in io.Reader, out io.Writer) error) error {
	in, out := os.NewFile(fileIn, "asks"), os.NewFile(fileOut, "answers")
	gone := func() {
		_ = os.RemoveAll(dir)
		exit()
	}
	return serve(whileAnybodyAsks(in, gone), out)
}

// whileAnybodyAsks reads what in has, and calls gone as soon as nobody can ask any
// more: a worker process is no use to anybody then.
func whileAnybodyAsks(in io.Reader, gone func()) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, _ = io.Copy(w, in)
		gone()
	}()
	return r
}

// Serve answers questions until there are no more, or until a run got stuck. What
// needs no answer gets nil.
func Serve[Q any](in io.Reader, out io.Writer, answer func(*Q) Answer) error {
	// If memory runs out, this is the process to go: that is a finding, and no loss.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	d, w := json.NewDecoder(in), bufio.NewWriter(out)
	e := json.NewEncoder(w)
	for {
		q := new(Q)
		if err := d.Decode(q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("worker process: %w", err)
		}
		a := answer(q)
		if a == nil {
			continue
		}
		err := errors.Join(e.Encode(a), w.Flush())
		if cause, _ := a.Stuck(); err != nil || cause != "" {
			return err
		}
	}
}

// Die ends a worker process that can do no run, as etcd ends it when the disk is full: a
// process that answered instead would take one question after another, and each would
// count as done.
func Die(err error) {
	fmt.Fprintf(os.Stderr, "fatal error: %v\n", err)
	os.Exit(2)
}
