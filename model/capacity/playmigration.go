package capacity

import "errors"

// begins does a step of the migration, or tries it again.
func (p *Player) begins(i int32) error {
	m := p.course.Migration
	if int(i) == len(m.Steps) {
		m.Steps = append(m.Steps, StepDone{At: p.now, End: Never})
	}
	p.freed++
	err := p.manager.Step(&p.c.Migration[i])
	if no := (RefusedStep{}); errors.As(err, &no) {
		m.Steps[i].Refused++
		m.Steps[i].Why = no.Error()
		p.trace.Refuse()
		return nil
	}
	p.fabric.init(p.c) // its cached results were of other pools
	return err
}

// ends records the end of a step, in which a number of pods were restarted.
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
