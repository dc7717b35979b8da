package capacity

import (
	"cmp"
	"slices"

	"ipamsim/model"
	"ipamsim/model/metric"
)

// sample takes one sample. It omits the owners of blocks in a cluster whose pools change.
func (p *Player) sample() {
	s := p.scene()
	p.course.Samples = append(p.course.Samples, p.measured(s))
	if row := s.owners(p.number); row != nil && len(p.c.Migration) == 0 {
		p.course.Owners = append(p.course.Owners, row)
	}
}

// sampleNow returns a sample that is not part of the course.
func (p *Player) sampleNow() Sample { return p.measured(p.scene()) }

func (p *Player) measured(s *snapshot) Sample {
	x := s.sample(p.now)
	x.Unplaced = p.trace.Unplaced()
	return x
}

// scene is what there is now.
func (p *Player) scene() *snapshot {
	s := &snapshot{networks: p.manager.Networks(), pods: p.bound, waiting: p.waiting}
	for _, n := range p.stations {
		s.sees(nodeState{name: n.Name, addr: n.Addr, addr6: n.Addr6, up: n.Up, registered: n.Registered})
	}
	for _, x := range p.pods {
		if x != nil {
			for _, a := range x.Addrs {
				s.live = append(s.live, holding{int(x.Node.Number), a, false})
			}
		}
	}
	s.Census = p.census()
	for _, d := range s.Devices {
		s.device(int(d.Node), d.Addr)
	}
	s.blackholed = p.fabric.lost(s)
	return s
}

// census is the manager's own, or the one computed from a view of the cluster.
func (p *Player) census() Census {
	if p.manager.Count != nil {
		return p.manager.Count()
	}
	v := p.View()
	c := snapshotOf(&v).Census
	for _, b := range p.manager.Devices() {
		for _, a := range b.Attachments {
			for _, addr := range a.Addrs {
				c.Devices = append(c.Devices, Device{p.number(b.Node), addr})
			}
		}
	}
	return c
}

// number is the number of a node, -1 for one that never existed.
func (p *Player) number(name string) int32 {
	if i, ok := p.numbers[name]; ok {
		return i
	}
	return -1
}

// View is what a real cluster that looks like this would be measured by.
func (p *Player) View() metric.View {
	v := metric.View{Record: p.manager.Record(), Networks: p.manager.Networks()}
	v.Truth = model.Truth{At: p.now, Pods: make(map[model.PodRef]model.Pod, len(p.pods)), Nodes: map[string]model.Node{}, Sandboxes: make([]model.Sandbox, 0, len(p.pods))}
	for _, n := range p.stations {
		v.Truth.Nodes[n.Name] = model.Node{Up: n.Up, Registered: n.Registered}
	}
	for _, x := range p.pods {
		if x == nil {
			continue
		}
		o := model.Pod{UID: x.Ref.Name, Node: x.Node.Name, Deleting: x.Marked}
		b := model.Sandbox{ID: x.Container, Pod: x.Ref, UID: o.UID, Node: x.Node.Name}
		for i := range v.Networks {
			o.Networks = append(o.Networks, v.Networks[i].Key)
		}
		if x.Container != "" {
			b.Attachments = p.manager.Attached(x)
			v.Truth.Sandboxes = append(v.Truth.Sandboxes, b)
		}
		v.Truth.Pods[x.Ref] = o
	}
	v.Truth.Sandboxes = append(v.Truth.Sandboxes, p.manager.Devices()...)
	slices.SortFunc(v.Truth.Sandboxes, func(a, b model.Sandbox) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), a.Pod.Compare(b.Pod))
	})
	return v
}
