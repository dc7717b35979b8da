package reports

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/sim"
)

// Stories of addresses that come out of blocks: who owns the block decides what
// becomes of the address, and that was settled long before there was a pod.

// inBlock is how an address manager and a routing table name a block.
var inBlock = regexp.MustCompile(`\b(?:block|blackhole) ([0-9a-f.:]+/[0-9]+)`)

var ofBlock = regexp.MustCompile(`\b(block|affinity)\b`)

// owns are the words for what makes somebody the owner of a block, or nobody.
var owns = regexp.MustCompile(`^(claims|makes|confirms|marks|drops|deletes)\b.*\b(block|affinity)\b|\bnobody's\b`)

// surveys are the words for what a node looks at before it takes a block, or an
// address out of somebody else's.
var surveys = regexp.MustCompile(`^reads the (affinities|blocks)`)

// bookkeeping are the words for what every allocation does as well, and what no
// story turns on unless it is about a handle.
var bookkeeping = regexp.MustCompile(`^(counts|deletes handle|marks handle)\b`)

// holding notes the blocks that a text says hold an address of the violation.
func (s *subject) holding(text string) {
	for _, m := range inBlock.FindAllStringSubmatch(text, -1) {
		p, err := netip.ParsePrefix(m[1])
		if err != nil || slices.Contains(s.blocks, m[1]) {
			continue
		}
		if slices.ContainsFunc(s.named[model.RefAddress], func(a string) bool {
			addr, err := netip.ParseAddr(a)
			return err == nil && p.Contains(addr)
		}) {
			s.blocks = append(s.blocks, m[1])
		}
	}
}

// assignments looks for those blocks in what the pods' own calls wrote.
func (s *subject) assignments(r *Report) {
	if r.Trace == nil || len(s.named[model.RefAddress]) == 0 {
		return
	}
	for _, st := range r.Trace.Steps {
		if op := st.Choice.Op; st.Step <= s.v.Step && op.Kind == sim.Write && slices.Contains(s.pods, s.podOf[string(op.Actor)]) {
			s.holding(r.words(st))
		}
	}
}

// claimants adds the pods whose containers the violation's handles are named
// after.
func (s *subject) claimants(events []model.Event) {
	for _, h := range s.named[model.RefHandle] {
		id := h[strings.LastIndexByte(h, '.')+1:]
		for _, e := range events {
			if e.Container == id && id != "" && e.Step <= s.v.Step && !slices.Contains(s.pods, e.Pod.String()) {
				s.pods = append(s.pods, e.Pod.String())
			}
		}
	}
}

// shorten adds the names that handles have in a message's words, where container
// ids are cut.
func (s *subject) shorten() {
	for _, h := range slices.Clone(s.named[model.RefHandle]) {
		if dot := strings.LastIndexByte(h, '.'); len(h)-dot-1 > containerMax {
			s.named[model.RefHandle] = append(s.named[model.RefHandle], h[:dot+1+containerMax])
		}
	}
}

// blockWritten weighs a write that is about blocks, handles or nodes, and not
// about an address of the violation. It is of no interest to others if it reports
// false.
func (s *subject) blockWritten(e *entry, m mentions) bool {
	// Where a violation names neither pod nor address, nodes and blocks are the
	// heroes.
	hero := len(s.named[model.RefAddress]) == 0 && len(s.named[model.RefPod]) == 0
	owned := owns.MatchString(e.text) && (m.block || hero && m.node && len(s.blocks) == 0)
	borrowed := hero && !m.node && ofBlock.MatchString(e.text) && slices.Contains(s.named[model.RefNode], s.nodeOf[e.actor])
	if m.any() || owned || borrowed {
		e.lane = cmp.Or(s.podOf[e.actor], e.lane)
	}
	switch {
	case m.handle:
		e.weight, e.turn = fate, "counted"
	case owned:
		e.weight, e.turn = s.ownership(e.text, m), "owned"
	case bookkeeping.MatchString(e.text):
		return false
	case borrowed:
		e.weight, e.turn = cause, "borrowed"
	case hero && m.block:
		e.weight, e.turn = glimpse, "used"
	case m.block && !m.pod && !slices.Contains(s.pods, e.lane):
		return false // what others were given out of it
	case m.block:
		e.weight = scenery + 1
	}
	return true
}

// ownership is what a step on the way to a block, or from it, is worth. In the
// story of an address only the outcome counts, and the attempts of a node that has
// to do with it.
func (s *subject) ownership(text string, m mentions) int {
	switch verb, _, _ := strings.Cut(text, " "); {
	case verb == "marks" && strings.Contains(text, "as "+model.Pending+","):
		return attempt - 1
	case len(s.named[model.RefAddress]) == 0:
		return fate
	case verb == "claims" || verb == "drops" || verb == "marks" && strings.Contains(text, "as deleted"):
		if m.node {
			return look
		}
		return attempt - 1
	}
	return fate
}
