package importing

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"ipamsim/reports"
	"ipamsim/scenarios/dump"
)

// When progress is reported: for the first time before a second is over.
const (
	progressFirst = 700 * time.Millisecond
	progressEvery = time.Second
)

// progress reports the stage of an import, and how much of it is done if that is counted. A
// short import reports nothing.
type progress struct {
	w     io.Writer
	mu    sync.Mutex
	stage string
	done  string // counts of the stage; ""
	since time.Time
	bytes atomic.Int64 // of all files
	over  chan struct{}
	ended sync.WaitGroup
	once  sync.Once
}

// report starts reporting to w.
func report(w io.Writer) *progress {
	p := &progress{w: w, stage: "starting", since: time.Now(), over: make(chan struct{})}
	p.ended.Go(func() {
		wait := time.NewTimer(progressFirst)
		defer wait.Stop()
		for {
			select {
			case <-p.over:
				return
			case <-wait.C:
				p.say("%s", p)
				wait.Reset(progressEvery)
			}
		}
	})
	return p
}

// say reports something immediately.
func (p *progress) say(format string, args ...any) {
	text := fmt.Sprintf("ipamsim: "+format+"\n", args...)
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.w, text)
}

// String renders the stage, its counts and its duration.
func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.stage
	if p.done != "" {
		out += ", " + p.done
	}
	if took := time.Since(p.since); took >= time.Second {
		out += ", " + took.Truncate(time.Second).String()
	}
	return out
}

// begin starts a stage.
func (p *progress) begin(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage, p.done, p.since = fmt.Sprintf(format, args...), "", time.Now()
}

// count records how much of the stage is done.
func (p *progress) count(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = fmt.Sprintf(format, args...)
}

// doing returns the stage.
func (p *progress) doing() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stage
}

// end ends the reports.
func (p *progress) end() {
	p.once.Do(func() { close(p.over) })
	p.ended.Wait()
}

// reading returns the progress callback for each file that is read into c, also for those in
// folders and archives.
func (p *progress) reading(c *dump.Cluster) func(string) func(dump.Progress) {
	return func(name string) func(dump.Progress) {
		p.begin("reading %s", reports.Clean(name))
		return func(dump.Progress) {
			p.count("%d MiB, %d objects so far", p.bytes.Load()>>20, c.Book.Objects())
		}
	}
}

// counted counts the bytes of files.
type counted struct {
	io.Reader
	*progress
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}
