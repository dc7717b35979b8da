package plan

import (
	"fmt"
	"time"

	"ipamsim/model"
)

// try is a step that an operator takes, and whether the reference refuses it.
type try struct {
	at      time.Duration
	step    int32
	refused bool
}

// astray renders where a step of the real code ended differently from the reference's, so that the following
// steps are not those of an operator.
func (s *script) astray(h *model.History) string {
	said := map[time.Duration]string{}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == model.Operator && e.Err != "" {
			for _, x := range s.tries {
				if e.At >= x.at && e.At < x.at+2*time.Second {
					said[x.at] = e.Err
				}
			}
		}
	}
	for _, x := range s.tries {
		if why := said[x.at]; (why != "") != x.refused {
			return fmt.Sprintf("step %d of the migration, at %s, is refused by one engine and not by the other: %q by the real code", x.step+1, x.at, why)
		}
	}
	return ""
}
