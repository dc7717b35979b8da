package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ipamsim/cmd/calico/lab/netns"
	"ipamsim/model/route"
)

// result is what became of one topology.
type result struct {
	topology      topology
	machines      int // nodes and routers, with a table each
	pairs, agreed int
	mute          int // pairs that were not pinged: see network.mute
	either        int // pairs whose flows may go one way or another
	lost          int // pairs without an answer, as the model says
	took          time.Duration
	again         bool // it is the second run: see twice
	tablesDiffer  int
	differences   []string
	tables        []string // of every machine, when something differs or all are asked for
	err           error    // it could not be built, or did not converge
}

// bench is what running topologies needs.
type bench struct {
	tools  netns.Tools
	confd  confd
	tables bool // every table is wanted, also when all agree
}

// open builds a topology, starts its daemons and waits until all is settled. The
// network must be closed, also after an error.
func (b bench) open(ctx context.Context, t topology, dir string) (*network, error) {
	n := &network{tools: b.tools, dir: filepath.Join(netns.WorkDir, dir), machines: lay(t, b.confd)}
	if err := n.build(); err != nil {
		return n, err
	}
	if err := n.tunnels(route.Converge(t.fabric, t.facts)); err != nil {
		return n, err
	}
	if err := n.start(); err != nil {
		return n, err
	}
	if err := n.converge(ctx); err != nil {
		return n, err
	}
	if err := n.disable(); err != nil {
		return n, err
	}
	return n, n.converge(ctx)
}

// twice runs a topology once more if it differed, for which the result says. What BIRD
// comes to may depend on the machine: a session that is disabled while the peer's data is
// on its way is reset, the notification with it, and the peer waits for a graceful
// restart with its routes kept; and bird6 now and then loses a route until its next scan.
func (b bench) twice(ctx context.Context, t topology) result {
	r := b.run(ctx, t)
	if r.differs() && ctx.Err() == nil {
		r = b.run(ctx, t)
		r.again = true
	}
	return r
}

func (r *result) differs() bool {
	return r.err != nil || r.tablesDiffer > 0 || r.agreed < r.pairs || r.pairs+r.mute == 0
}

// run runs one topology and compares the kernels' tables with the model's, and what
// pings say with the model's verdicts.
func (b bench) run(ctx context.Context, t topology) (r result) {
	r.topology = t
	start := time.Now()
	defer func() { r.took = time.Since(start) }()
	n, err := b.open(ctx, t, t.id)
	defer n.close()
	if err != nil {
		r.err = err
		r.tables = append(n.print(), n.logs()...)
		return r
	}
	model := route.Converge(t.fabric, t.facts)
	r.tables, r.differences, r.err = n.compareTables(model, b.tables)
	if r.err != nil {
		return r
	}
	r.machines = len(n.machines)
	if r.tablesDiffer = len(r.differences); r.tablesDiffer > 0 {
		r.tables = append(r.tables, n.logs()...)
	}
	pairs := n.pairs()
	if n.mute {
		r.mute = len(pairs)
		return r
	}
	for _, p := range pairs {
		p.there, p.back = model.RoundTrip(p.from.name, p.source(), p.to.name, p.toPod.addr)
	}
	n.ping(ctx, pairs)
	if r.err = ctx.Err(); r.err != nil {
		return r
	}
	r.count(pairs)
	return r
}

func (r *result) count(pairs []*pair) {
	for _, p := range pairs {
		r.pairs++
		may, mayNot := p.outcomes()
		switch {
		case may && mayNot:
			r.either++
		case mayNot:
			r.lost++
		}
		if p.agrees() {
			r.agreed++
			continue
		}
		r.differences = append(r.differences, fmt.Sprintf("%s: ping says %s, the model says: %s", p, p.got, p.predicted()))
	}
}

// print is every machine's table as ip route prints it.
func (n *network) print() (lines []string) {
	for _, m := range n.machines {
		if m.space == nil {
			continue
		}
		table, err := m.space.Lines(n.tools.IP, m.six())
		if err != nil {
			table = []string{err.Error()}
		}
		lines = append(lines, m.name+"# "+netns.IPRoute(m.six()))
		for _, l := range table {
			lines = append(lines, "  "+l)
		}
	}
	return lines
}

// logs are the last words of every BIRD.
func (n *network) logs() (lines []string) {
	for _, m := range n.machines {
		if m.bird != nil {
			lines = append(lines, m.name+" BIRD: "+strings.Join(m.bird.lastWords(5), " | "))
		}
	}
	return lines
}
