package remedies

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump/calico"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
)

// block is one of the record, by its prefix; nil if there is none.
func (d *drafts) block(p netip.Prefix) *model.Pool { return d.blocks[p] }

func (d *drafts) hasAffinity(block netip.Prefix, node string) bool {
	return slices.ContainsFunc(d.affinities[node], func(a model.Affinity) bool { return a.Block == block })
}

func (d *drafts) empty(b *model.Pool) bool { return len(d.Claims[b.Name]) == 0 }

// giveBack takes a block, its affinity, or both from a node, whichever there are.
func (d *drafts) giveBack(block netip.Prefix, owner string) giveBack {
	g := giveBack{Block: block, Owner: owner, OwnerGone: !d.View.Truth.Nodes[owner].Registered}
	if b := d.block(block); b != nil && b.Node == owner {
		g.Name = calico.BlockName(block.String())
	}
	if d.hasAffinity(block, owner) {
		g.Affinity = calico.AffinityName(owner, block.String())
	}
	return g
}

// ownership adds problems of affinities without a matching block or node, and of blocks without an
// affinity. An affinity that its block names is deleted with the block.
func (d *drafts) ownership() {
	gone := pile{}  // of nodes that are gone
	other := pile{} // of living ones, to blocks that are gone or another's
	for _, i := range d.Open(invariant.LeakedAffinity.Name, invariant.AffinityMismatch.Name, invariant.BlockOwner.Name) {
		x := &d.Findings.All[i].Violation
		block, err := netip.ParsePrefix(diagnosis.ObjectsOf(x)[model.RefBlock])
		if err != nil {
			continue
		}
		b := d.block(block)
		for _, o := range x.Objects {
			if o.Kind != model.RefNode || virtual(o.Name) {
				continue
			}
			switch named := b != nil && b.Node == o.Name; {
			case !named && d.hasAffinity(block, o.Name):
				other.add(i, d.giveBack(block, o.Name))
			case x.Invariant != invariant.LeakedAffinity.Name: // the rightful owner's
			case named && d.hasAffinity(block, o.Name) && d.empty(b):
				gone.add(i, d.giveBack(block, o.Name))
			case named && !d.hasAffinity(block, o.Name):
				d.without(i, b)
			}
		}
	}
	for _, p := range []pile{gone, other} {
		if len(p.about) == 0 {
			continue
		}
		problem := remedy.Problem{Advice: d.kubeControllers()}
		switch {
		case d.etcd:
		case len(p.steps) > diagnosis.LinesMax:
			problem.Long = len(p.steps)
		default:
			problem.Try = []remedy.Remedy{{Steps: checked(p.steps), Cautions: []remedy.Caution{blockCaution}}}
		}
		d.Add(p.about, problem)
	}
}

// checked puts a check of the blocks that go before the steps.
func checked(steps []remedy.Step) []remedy.Step {
	var blocks []netip.Prefix
	for _, s := range steps {
		if g, ok := s.(giveBack); ok && g.Name != "" {
			blocks = append(blocks, g.Block)
		}
	}
	if len(blocks) == 0 {
		return steps
	}
	return append([]remedy.Step{check{Blocks: blocks}}, steps...)
}

// virtual reports whether an owner of blocks is no node: kube-controllers', for the
// addresses of load balancers.
//
// Source: libcalico-go/lib/ipam, AffinityConfig (v3.31).
func virtual(owner string) bool { return strings.HasPrefix(owner, "virtual:") }

// pile are findings that go with one step each.
type pile struct {
	about []int
	steps []remedy.Step
	has   map[any]bool // of both
}

func (p *pile) add(i int, s remedy.Step) {
	if p.has == nil {
		p.has = map[any]bool{}
	}
	if !p.has[i] {
		p.about = append(p.about, i)
	}
	if !p.has[s] { // all are comparable
		p.steps = append(p.steps, s)
	}
	p.has[i], p.has[s] = true, true
}

// without is a block whose owner has no affinity for it: an empty one can be given back,
// another one gets its affinity again.
func (d *drafts) without(about int, b *model.Pool) {
	p := remedy.Problem{Advice: d.kubeControllers()}
	switch {
	case d.etcd:
	case d.empty(b):
		p.Try = []remedy.Remedy{{Steps: []remedy.Step{check{Blocks: []netip.Prefix{b.Range}}, d.giveBack(b.Range, b.Node)}, Cautions: []remedy.Caution{blockCaution}}}
	case d.View.Truth.Nodes[b.Node].Registered:
		manifest, err := json.Marshal(calico.Affinity(b.Node, b.Range))
		if err == nil {
			p.Try = []remedy.Remedy{{Steps: []remedy.Step{makeAffinity{Block: b.Range, Owner: b.Node, Manifest: manifest}}}}
		}
	}
	d.Add([]int{about}, p)
}

// starved are nodes without a block while others have empty ones.
func (d *drafts) starved() {
	for _, i := range d.Open(invariant.StarvedNode.Name) {
		x := &d.Findings.All[i].Violation
		block, err := netip.ParsePrefix(diagnosis.ObjectsOf(x)[model.RefBlock])
		starved, _ := model.FactOf[model.Ref](x.Facts, "starved")
		if err != nil || d.block(block) == nil {
			continue
		}
		owner := d.block(block).Node
		d.Add([]int{i}, remedy.Problem{Needs: starved.Name, Advice: d.kubeControllers(), Try: []remedy.Remedy{d.hand(block, owner, starved.Name)}})
	}
}

// hand takes an empty block from its owner, for another node.
func (d *drafts) hand(block netip.Prefix, owner, to string) remedy.Remedy {
	if d.etcd {
		return remedy.Remedy{Steps: []remedy.Step{await{Block: block, For: d.await()}}, Waits: []*remedy.Controller{kubeControllers}}
	}
	steps := []remedy.Step{check{Blocks: []netip.Prefix{block}}, d.giveBack(block, owner)}
	if d.Facts.Exists(owner) && !d.Facts.Cordoned(owner) {
		steps = append([]remedy.Step{remedy.Cordon{Nodes: []string{owner}}}, append(steps, remedy.Uncordon{Nodes: []string{owner}, Claims: ""})...)
	}
	return remedy.Remedy{Steps: steps, Cautions: []remedy.Caution{blockCaution}}
}
