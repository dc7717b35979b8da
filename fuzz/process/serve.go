package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// The file descriptors of a worker process: 0, 1 and 2 belong to upstream.
const (
	fileIn  = 3
	fileOut = 4
)

// Run runs a worker process in its directory: serve answers the requests. When the owner closes its end
// of the pipe, even during a run, Run removes the directory and calls exit, which has to end the
// process.
func Run(dir string, exit func(), serve func(in io.Reader, out io.Writer) error) error {
	in, out := os.NewFile(fileIn, "asks"), os.NewFile(fileOut, "answers")
	gone := func() {
		_ = os.RemoveAll(dir)
		exit()
	}
	return serve(notifyEnd(in, gone), out)
}

// notifyEnd returns a copy of in, and calls gone when in ends: the owner has then no use for the process.
func notifyEnd(in io.Reader, gone func()) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, _ = io.Copy(w, in)
		gone()
	}()
	return r
}

// Serve answers requests until there are no more, or until a run got stuck. A request without a reply
// has the answer nil.
func Serve[Q any](in io.Reader, out io.Writer, answer func(*Q) Answer) error {
	// If memory runs out, the kernel should kill this process: that is a finding, and nothing is lost.
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

// Die ends a worker process that cannot do any run, as etcd does when the disk is full. If the process
// replied instead, it would take one request after another, and each would count as done.
func Die(err error) {
	fmt.Fprintf(os.Stderr, "fatal error: %v\n", err)
	os.Exit(2)
}
