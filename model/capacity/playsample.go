package capacity

import (
	"cmp"
	"slices"

	"ipamsim/model"
	"ipamsim/model/metric"
)

// sample takes one. Whose each block is is not told of a cluster whose pools change.
func (p *Player) sample() {
	s := p.scene()
	p.course.Samples = append(p.course.Samples, p.measured(s))
	if row := s.owners(p.number); row != nil && len(p.c.Migration) == 0 {
		p.course.Owners = append(p.course.Owners, row)
	}
}

// look is a sample that is not one of the course.
func (p *Player) look() Sample { return p.measured(p.scene()) }

func (p *Player) measured(s *scene) Sample {
	x := s.sample(p.now)
	x.Unplaced = p.tape.Unplaced()
	return x
}

// scene is what there is now.
func (p *Player) scene() *scene {
	s := &scene{networks: p.manager.networks(), pods: p.bound, waiting: p.waiting}
	for _, n := range p.stations {
		s.sees(sight{name: n.Name, addr: n.Addr, up: n.up, registered: n.registered})
	}
	for _, x := range p.pods {
		if x != nil {
			for _, a := range x.addrs {
				s.live = append(s.live, holding{int(x.node.number), a, false})
			}
		}
	}
	p.manager.look(s)
	s.blackholed = p.fabric.lost(s)
	return s
}

// number is that of a node, -1 for one that never was.
func (p *Player) number(name string) int32 {
	if i, ok := p.numbers[name]; ok {
		return i
	}
	return -1
}

// View is what a real cluster that looks like this would be measured by.
func (p *Player) View() metric.View {
	v := metric.View{Record: p.manager.record(), Networks: p.manager.networks()}
	v.Truth = model.Truth{At: p.now, Pods: map[model.PodRef]model.Pod{}, Nodes: map[string]model.Node{}}
	for _, n := range p.stations {
		v.Truth.Nodes[n.Name] = model.Node{Up: n.up, Registered: n.registered}
	}
	for _, x := range p.pods {
		if x == nil {
			continue
		}
		o := model.Pod{UID: x.ref.Name, Node: x.node.Name, Deleting: x.marked}
		b := model.Sandbox{ID: x.container, Pod: x.ref, UID: o.UID, Node: x.node.Name}
		for i := range v.Networks {
			o.Networks = append(o.Networks, v.Networks[i].Key)
		}
		if x.container != "" {
			b.Attachments = p.manager.attached(x)
			v.Truth.Sandboxes = append(v.Truth.Sandboxes, b)
		}
		v.Truth.Pods[x.ref] = o
	}
	p.manager.devices(&v)
	slices.SortFunc(v.Truth.Sandboxes, func(a, b model.Sandbox) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod.String(), b.Pod.String()))
	})
	return v
}
