package process

import "context"

// Place is where one worker process after another answers questions. The zero value with Start is
// ready for use, by one goroutine at a time.
type Place struct {
	Start   func() (*Handle, error)
	process *Handle
}

// Ask has one question answered: question is called for each try, and says what to ask and
// where the answer goes. A run that takes its worker process along is done again in a fresh one. If it
// dies again, that is what came of it, the last death; but anybody may be killed from outside
// twice. again is called before each further try, with the death.
//
// Where last is nil there is an answer, though a first run may have died. The error is that
// of Start, or of ctx when that ended before there was an answer.
func (p *Place) Ask(ctx context.Context, question func() (q any, a Answer), again func(*Death)) (first, last *Death, err error) {
	for deaths := 0; ; deaths++ {
		if p.process == nil {
			if p.process, err = p.Start(); err != nil {
				p.process = nil
				return first, nil, err
			}
		}
		q, a := question()
		d := p.process.Ask(ctx, q, a)
		if d == nil {
			return first, nil, nil
		}
		p.process = nil
		switch {
		case ctx.Err() != nil:
			return first, nil, ctx.Err()
		case first != nil && !(d.Killed && deaths < 2):
			return first, d, nil
		}
		first = d
		again(d)
	}
}

// Clear ends the worker process, if there is one; the next question begins another.
func (p *Place) Clear() {
	if p.process != nil {
		p.process.Kill()
		p.process = nil
	}
}
