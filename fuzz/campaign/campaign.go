// Package campaign executes many runs in many processes and loses no result.
//
// A coordinator plans shards, which are seeds to run, and puts them into a queue. Workers take
// them. Each worker has worker processes for the runs, because a run may kill its process. The
// result of a shard goes to a log. The log is the campaign's state: a restarted coordinator
// reads it and resumes. The transport is NATS JetStream, embedded in the coordinator or on a
// server of the user's.
package campaign

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/space"
	"ipamsim/reports"
	"ipamsim/sim/scratch"
)

// Config of a campaign.
type Config struct {
	Spec    queue.Spec    // Run sets Build
	Runs    uint64        // number of runs; 0: no limit
	Time    time.Duration // duration; 0: no limit
	Workers int           // worker processes on this machine
	Link    *queue.Link   // the user's NATS server; nil: embedded
	Dir     string        // for findings, and for the state to resume from
	Fresh   bool          // discard earlier campaigns in Dir
	Known   known.Causes  // causes that are not new
	Listed  bool          // whether there are lists of known causes
	// For a plan: Weights are the estimated seconds of each point; nil: all points take
	// the same time. At the end Point is called with each point that is done, in the order of
	// their numbers, as the JSON of a plan.Done.
	Weights []float64
	Point   func(n uint64, done []byte) error
	// HTML is a file for the campaign's page in addition to DIR/index.html, "" for none;
	// HTMLDir is the URL of Dir relative to that file.
	HTML, HTMLDir string
	// OnProgress is called a few times a second, and a last time at the end.
	OnProgress func(Progress)
	// Say is called with messages for the user, one line each.
	Say func(string)
}

// Progress of a campaign.
type Progress struct {
	Phase         string // "exploring", "finishing"
	Elapsed, Left time.Duration
	Runs, RunsMax uint64
	Rate          float64 // recent runs per second
	States, Pairs int
	Allocators    int // states of allocators: see coverage.Allocators
	Findings      int
	Open          int // kinds of failures that are not shrunk yet
	Unkept        int // of them, those without even the recorded run
}

// Outcome of a campaign, or of the part that was done.
type Outcome struct {
	Progress
	Why       string // the reason why it ended
	Busy      time.Duration
	Steps     int
	Unknown   uint64
	Rows      []Row
	Deaths    []queue.Death // those that a second run did not confirm
	Defects   []string
	Defective int
	Repeated  reports.Repeated
	Caught    uint64 // canary runs that failed
	Canaries  uint64
	Worlds    space.Tally // generated scenarios that ran
	// The estimated share of new kinds among the next run's sightings: see coverage.Unseen.
	UnseenStates, UnseenAllocators coverage.Unseen
}

// Blind reports that no canary run failed: the campaign cannot detect failures.
func (o *Outcome) Blind() bool { return o.Caught == 0 }

// Row is a finding in the table at the end.
type Row struct {
	*finding.Finding
	Count      uint64
	First      uint64 // the run in which it was first seen
	FirstAfter time.Duration
	File       string
	Page       string   // the page of its run; "" if there is none
	History    string   // the page of a history that is not linearizable
	Issue      string   // the text of an issue for the manager's maintainers
	Known      string   // the entry of the lists for its cause, or News, or NotListed
	Keys       []string // the keys of the causes with this name, as in the lists
	Rough      bool     // recorded without shrinking, for lack of time
}

// Values of Row.Known for causes that are on no list.
const (
	News      = "NEW"
	NotListed = "-" // not shrunk, or there are no lists
)

// Errors of Run, in addition to those of the environment.
var (
	ErrLocked  = errors.New("another campaign works in this directory")
	ErrWithout = errors.New("the campaign in this directory leaves out other classes of actions")
	ErrRefused = errors.New("it cannot run")
)

// Run runs a campaign, or resumes one that was stopped or killed. The outcome is
// set even with an error, if anything was started. If ctx ends, Run stores the
// results so far and returns.
func Run(ctx context.Context, cfg Config) (*Outcome, error) {
	born := time.Now() // Time includes the start of the embedded NATS server
	var err error
	if cfg.Workers > 0 {
		if err := scratch.Check(); err != nil {
			return nil, fmt.Errorf("campaign: %w", err)
		}
	}
	if cfg.Spec.Build == "" {
		if cfg.Spec.Build, err = queue.Build(); err != nil {
			return nil, err
		}
	}
	home, err := openHome(cfg.Dir, cfg.Spec, cfg.Fresh)
	if err != nil {
		return nil, err
	}
	defer home.close()
	link := cfg.Link
	if link == nil {
		link = &queue.Link{}
		var stop func()
		if stop, link.URL, err = queue.Serve(home.path("nats")); err != nil {
			return nil, err
		}
		defer stop()
	}
	// The connection outlives ctx, because results are stored at the end.
	linkCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	b, err := queue.Reach(linkCtx, *link, "coordinator")
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := b.Create(linkCtx, home.id); err != nil {
		return nil, err
	}
	own := *link
	own.Build = cfg.Spec.Build
	c := &coordinator{Config: cfg, Bus: b, home: home, state: newState(), link: own, born: born}
	return c.run(ctx, linkCtx)
}

// home is a campaign's directory: DIR/.campaign/IDENTITY.
type home struct {
	dir  string // for the findings
	own  string
	id   string
	lock *os.File
}

func openHome(dir string, spec queue.Spec, fresh bool) (*home, error) {
	h := &home{dir: dir, own: filepath.Join(dir, ownDir, spec.Identity())}
	if err := os.MkdirAll(filepath.Dir(h.own), 0o700); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	var err error
	if h.lock, err = scratch.Lock(filepath.Join(dir, ownDir, "lock")); errors.Is(err, scratch.ErrTaken) {
		return nil, fmt.Errorf("--out: %s: %w", dir, ErrLocked)
	} else if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	if fresh {
		err = forget(dir)
	} else {
		err = sameWithout(dir, spec)
	}
	if err == nil {
		err = os.MkdirAll(h.own, 0o700)
	}
	if err == nil {
		h.id, err = h.name(spec)
	}
	if err != nil {
		h.close()
		return nil, fmt.Errorf("--out: %w", err)
	}
	return h, nil
}

// name returns the campaign's ID. It is unique among directories, because campaigns may share a
// NATS server.
func (h *home) name(spec queue.Spec) (string, error) {
	if b, err := os.ReadFile(h.path(idFile)); err == nil && len(b) == idLen {
		return string(b), nil
	}
	var b [idLen / 2]byte
	_, _ = rand.Read(b[:])
	text, err := json.MarshalIndent(spec, "", "  ")
	if err == nil {
		err = write(h.path(specFile), text)
	}
	id := hex.EncodeToString(b[:])
	return id, errors.Join(err, write(h.path(idFile), []byte(id)))
}

const idLen = 16

func (h *home) path(name string) string { return filepath.Join(h.own, name) }

func (h *home) close() { _ = h.lock.Close() }

// write writes a file atomically.
func write(path string, body []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(body)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
