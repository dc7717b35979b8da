package capacity

import (
	"errors"

	"ipamsim/model/reference/calico"
)

// refusedStep is why the datastore refuses a step.
type refusedStep struct{ error }

// begins does a step of the migration, or tries it again.
func (p *Player) begins(i int32) error {
	m := p.course.Migration
	if int(i) == len(m.Steps) {
		m.Steps = append(m.Steps, StepDone{At: p.now, End: Never})
	}
	p.freed++
	err := p.manager.step(&p.c.Migration[i])
	if no := (refusedStep{}); errors.As(err, &no) {
		m.Steps[i].Refused++
		m.Steps[i].Why = no.Error()
		p.tape.Refuse()
		return nil
	}
	p.fabric.init(p.c) // what it has learned was of other pools
	return err
}

// ends is the end of a step, in which so many pods were restarted.
func (p *Player) ends(i, pods int32) {
	m := p.course.Migration
	m.Steps[i].End, m.Steps[i].Pods = p.now, int(pods)
	if int(i) < len(p.c.Migration)-1 {
		return
	}
	m.End = p.now
	if p.c.JudgeFrom == 0 {
		p.course.Since = p.now + p.c.Settle()
	}
}

// step changes Calico's pools, or its configuration. Nodes then look after their
// tunnel addresses, one after the other.
func (m *byCalico) step(s *Step) error {
	var err error
	switch s.Kind {
	case CreatePool:
		m.routing[s.Pool.Name] = s.Routing
		m.pools[s.Pool.Name] = s.Pool
		err = m.a.CreatePool(s.Pool)
	case DisablePool:
		if x, ok := m.a.Pool(s.Pool.Name); ok {
			x.Disabled = true
			err = m.a.StorePool(x)
		}
	case DeletePool:
		err = m.a.DeletePool(s.Pool.Name)
	case Configure:
		m.a.Config = s.Config
	case RestartPods, TypeAffinities: // the reference knows of no types
		return nil
	}
	switch {
	case errors.Is(err, calico.ErrConflict) || errors.Is(err, calico.ErrExists) || errors.Is(err, calico.ErrNotFound):
		return refusedStep{err}
	case err != nil:
		return err
	}
	for _, n := range m.p.stations {
		if n.up && n.registered {
			if err := m.up(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// step of a migration: there is none for Whereabouts.
func (m *byWhereabouts) step(*Step) error { return errNoMigration }

var errNoMigration = errors.New("a migration of Whereabouts")
