package record

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ipamsim/reports/layout"
)

// Perfetto writes a run as Trace Event JSON, which ui.perfetto.dev and
// chrome://tracing open: a process for the cluster and one for each node, a track
// for each actor. A message is a slice from when it was sent to when it was
// delivered, inside that of its ADD, DEL or pass, and its arguments say which function,
// file and line of the manager's source sent it; sandboxes are asynchronous slices,
// what is claimed in each pool is a counter; faults, what people and machines do,
// and violations are instants. Times are virtual, in µs.
//
// Source: Trace Event Format,
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
func Perfetto(w io.Writer, rec *Record) error {
	p := &perfetto{w: bufio.NewWriter(w), rec: rec, nodeOf: map[string]string{}, pids: map[string]int{}, tids: map[string]int{}, last: map[string]time.Duration{}, begins: map[string][]Event{}}
	p.text(`{"displayTimeUnit":"ms","otherData":`)
	p.value(map[string]string{
		"scenario": rec.Scenario, "upstream": rec.Upstream, "seed": strconv.FormatUint(rec.Seed, 10), "digest": rec.Digest, "command": rec.Command,
	})
	p.text(",\"traceEvents\":[\n")
	p.places()
	p.calls()
	p.messages()
	p.events()
	p.sandboxes()
	p.claimed()
	p.violations()
	p.text("\n]}\n")
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

// traceEvent is one entry of the format. The letters are its own.
type traceEvent struct {
	Ph    string         `json:"ph"` // X slice, b and e asynchronous ones, i instant, C counter, M about a track
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Ts    micros         `json:"ts"`
	Dur   *micros        `json:"dur,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	ID    string         `json:"id,omitempty"`
	Scope string         `json:"s,omitempty"` // of an instant: t track, p process, g all
	Args  map[string]any `json:"args,omitempty"`
}

// micros is a time in µs with its nanoseconds as decimals.
type micros time.Duration

// MarshalJSON writes a number.
func (m micros) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%03d", m/1000, m%1000), nil
}

type perfetto struct {
	w     *bufio.Writer
	err   error
	some  bool // an event was written
	rec   *Record
	nodes []string

	nodeOf map[string]string // actor → node, "" for the cluster's own
	pids   map[string]int    // by node
	tids   map[string]int    // by actor

	begins map[string][]Event       // of an actor's calls
	last   map[string]time.Duration // where an actor's last slice ended
}

func (p *perfetto) text(s string) {
	if p.err == nil {
		_, p.err = p.w.WriteString(s)
	}
}

func (p *perfetto) value(v any) {
	if p.err != nil {
		return
	}
	b, err := json.Marshal(v)
	if p.err = err; err == nil {
		_, p.err = p.w.Write(b)
	}
}

func (p *perfetto) add(e traceEvent) {
	if p.some {
		p.text(",\n")
	}
	p.some = true
	p.value(e)
}

const clusterPid = 1

// places names the processes and their tracks: the cluster first, then the nodes by
// name; actors in the order in which they come.
func (p *perfetto) places() {
	isNode := map[string]bool{}
	for _, e := range p.rec.Events {
		if e.Node != "" {
			isNode[e.Node] = true
		}
		if e.Actor != "" && e.Node != "" {
			p.nodeOf[e.Actor] = e.Node
		}
	}
	p.nodes = slices.Sorted(maps.Keys(isNode))
	p.process("", clusterPid, "cluster")
	for i, n := range p.nodes {
		p.process(n, clusterPid+1+i, "node "+n)
	}
	for _, s := range p.rec.Steps {
		p.actor(s.Actor, isNode)
	}
	for _, e := range p.rec.Events {
		if e.Actor != "" {
			p.actor(e.Actor, isNode)
		}
	}
}

func (p *perfetto) process(node string, pid int, name string) {
	p.pids[node] = pid
	p.add(traceEvent{Ph: "M", Name: "process_name", Pid: pid, Args: map[string]any{"name": name}})
	p.add(traceEvent{Ph: "M", Name: "process_sort_index", Pid: pid, Args: map[string]any{"sort_index": pid}})
}

// actor makes a track. A kubelet or a daemon of a node has its name behind its own;
// of others an event says where they ran.
func (p *perfetto) actor(id string, isNode map[string]bool) {
	if p.tids[id] > 0 {
		return
	}
	if f := strings.SplitN(id, "/", 3); p.nodeOf[id] == "" && len(f) > 1 {
		if name, _, _ := strings.Cut(f[1], "~"); isNode[name] {
			p.nodeOf[id] = name
		}
	}
	tid := len(p.tids) + 1
	p.tids[id] = tid
	p.add(traceEvent{Ph: "M", Name: "thread_name", Pid: p.pid(id), Tid: tid, Args: map[string]any{"name": id}})
	p.add(traceEvent{Ph: "M", Name: "thread_sort_index", Pid: p.pid(id), Tid: tid, Args: map[string]any{"sort_index": tid}})
}

func (p *perfetto) pid(actor string) int { return p.pids[p.nodeOf[actor]] }

// calls are the slices of what an actor does with several messages: an ADD, a DEL,
// a pass of a reconciler. One that never returned ends with the actor's last
// message.
func (p *perfetto) calls() {
	last := map[string]time.Duration{}
	for _, s := range p.rec.Steps {
		last[s.Actor] = s.At
	}
	open, ended := map[string]Event{}, map[string]time.Duration{}
	end := func(actor, outcome string, at time.Duration) {
		e := open[actor]
		delete(open, actor)
		name := map[string]string{"add-begin": "ADD " + e.Pod, "del-begin": "DEL " + e.Pod, "reconcile-begin": "pass"}[e.Kind]
		// The last message may have ended it in the instant it was delivered.
		ended[actor] = max(at, e.At) + 1
		p.slice(actor, "call", name, e.At, ended[actor], map[string]any{"step": e.Step, "outcome": outcome})
	}
	for _, e := range p.rec.Events {
		_, under := open[e.Actor]
		switch e.Kind {
		case "add-begin", "del-begin", "reconcile-begin":
			if under {
				end(e.Actor, "never returned", e.At-1)
			}
			e.At = max(e.At, ended[e.Actor])
			open[e.Actor] = e
			p.begins[e.Actor] = append(p.begins[e.Actor], e)
		case "add-end", "del-end", "reconcile-end":
			if under {
				end(e.Actor, e.Text, e.At)
			}
		}
	}
	for _, actor := range slices.Sorted(maps.Keys(open)) {
		end(actor, "never returned", last[actor])
	}
}

func (p *perfetto) slice(actor, cat, name string, from, to time.Duration, args map[string]any) {
	dur := micros(to - from)
	p.add(traceEvent{Ph: "X", Name: name, Cat: cat, Ts: micros(from), Dur: &dur, Pid: p.pid(actor), Tid: p.tids[actor], Args: args})
}

// messages are the steps. None begins before the call that it is of, and of several
// that an actor had sent at the same time each begins where the one before ended:
// slices of a track may not overlap.
func (p *perfetto) messages() {
	for _, s := range p.rec.Steps {
		args := map[string]any{"step": s.Step, "outcome": s.Outcome}
		if s.Note != "" {
			args["note"] = s.Note
		}
		if s.Sent > 0 {
			args["sent"] = layout.Clock(s.Sent)
		}
		p.site(s.Site, args)
		for b := p.begins[s.Actor]; len(b) > 0 && (b[0].Step < s.Step || b[0].At < s.At); b = b[1:] {
			p.last[s.Actor], p.begins[s.Actor] = max(p.last[s.Actor], b[0].At), b[1:]
		}
		from := max(s.Sent, p.last[s.Actor])
		p.last[s.Actor] = max(s.At, from+1)
		p.slice(s.Actor, s.Kind, cmp.Or(s.Text, s.Key), from, p.last[s.Actor], args)
		if s.Fault {
			p.instant("t", p.pid(s.Actor), p.tids[s.Actor], "fault", "FAULT "+s.Outcome+": "+s.Key, s.At, s.Step)
		}
	}
}

// site adds where in the manager's own source a message was sent, and who called that.
func (p *perfetto) site(n int, args map[string]any) {
	if n == 0 || len(p.rec.Sites[n-1].Frames) == 0 {
		return
	}
	c := p.rec.Sites[n-1]
	args["module"] = c.Module
	args["function"], args["file"], args["line"] = c.Frames[0].Function, c.Frames[0].File, c.Frames[0].Line
	if by, ok := c.Caller(); ok {
		args["caller"] = fmt.Sprintf("%s (%s:%d)", by.Function, by.File, by.Line)
	}
}

func (p *perfetto) instant(scope string, pid, tid int, cat, name string, at time.Duration, step int) {
	p.add(traceEvent{Ph: "i", Name: name, Cat: cat, Ts: micros(at), Pid: pid, Tid: tid, Scope: scope, Args: map[string]any{"step": step}})
}

// events are what people, machines and hazards do.
func (p *perfetto) events() {
	for _, e := range p.rec.Events {
		switch e.Kind {
		case "node":
			p.instant("p", p.pids[e.Node], 0, e.Kind, e.Text, e.At, e.Step)
		case "operator", "actor-panic":
			p.instant("t", p.pid(e.Actor), p.tids[e.Actor], e.Kind, e.Text, e.At, e.Step)
		case "fault":
			if strings.HasPrefix(e.Actor, "hazard/") {
				p.instant("g", clusterPid, p.tids[e.Actor], e.Kind, e.Text, e.At, e.Step)
			}
		}
	}
}

// sandboxes are asynchronous slices of their nodes, those of one pod below each
// other.
func (p *perfetto) sandboxes() {
	up := map[string]Event{}
	add := func(ph string, e Event, at time.Duration, args map[string]any) {
		p.add(traceEvent{Ph: ph, Name: "sandbox of " + e.Pod, Cat: "sandbox", Ts: micros(at), Pid: p.pids[e.Node], ID: e.Container, Args: args})
	}
	for _, e := range p.rec.Events {
		switch e.Kind {
		case "sandbox-up":
			if _, twice := up[e.Container]; !twice {
				up[e.Container] = e
				add("b", e, e.At, map[string]any{"step": e.Step, "container": e.Container})
			}
		case "sandbox-down":
			if first, ok := up[e.Container]; ok {
				delete(up, e.Container)
				add("e", first, e.At, map[string]any{"step": e.Step, "why": e.Text})
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(up)) {
		add("e", up[id], max(p.rec.Virtual, up[id].At), map[string]any{"why": "the run ended"})
	}
}

// claimed are the counters of pools, from the film.
func (p *perfetto) claimed() {
	f := &p.rec.Recording
	t := f.Table("pools")
	if t < 0 {
		return
	}
	name, claimed := slices.Index(f.Tables[t].Columns, "pool"), slices.Index(f.Tables[t].Columns, "claimed")
	if name < 0 || claimed < 0 {
		return
	}
	names := map[string]string{}
	for _, fr := range f.Frames {
		for _, c := range fr.Changes {
			if c.Table != t {
				continue
			}
			n := 0
			if c.Row != nil {
				n, _ = strconv.Atoi(c.Row[claimed])
				names[c.Key] = c.Row[name]
			}
			p.add(traceEvent{Ph: "C", Name: "claimed in " + names[c.Key], Ts: micros(fr.At), Pid: clusterPid, Args: map[string]any{"claimed": n}})
		}
	}
}

func (p *perfetto) violations() {
	for _, v := range p.rec.Violations {
		p.instant("g", clusterPid, 0, "violation", v.Invariant+": "+v.Message, v.At, v.Step)
	}
}
