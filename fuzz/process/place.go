package process

import "context"

// Place has at most one worker process at a time, and replaces it when it dies. The zero value with
// Start is ready for use, by one goroutine at a time.
type Place struct {
	Start   func() (*Handle, error)
	process *Handle
}

// Ask sends a request and waits for the reply. It calls question for each attempt, for the request and
// the variable for the reply. A run that kills its worker process is repeated in a new process. If
// that dies, too, the result is the last death; if the processes were killed from outside, the run is
// repeated once more. Ask calls again with the death before each repetition.
//
// If last is nil there is a reply; first is then the death of an earlier attempt, if any. The error is
// that of Start, or of ctx if it ended before the reply.
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

// Clear ends the worker process, if there is one. The next request starts another.
func (p *Place) Clear() {
	if p.process != nil {
		p.process.Kill()
		p.process = nil
	}
}
