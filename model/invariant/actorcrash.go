package invariant

import (
	"fmt"

	"ipamsim/model"
)

// ActorCrash is a process of the address manager that panicked, for whatever
// reason: no input from the cluster may do that.
var ActorCrash = define(Invariant{
	Name:     "actor-crash",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No process of the address manager panics.",
}, func(v View) []finding {
	if v.History == nil {
		return nil
	}
	var out []finding
	for _, i := range v.History.Panics() {
		e := &v.History.Events[i]
		why := e.Err
		if why == "" {
			why = e.Text
		}
		where := ""
		if site := model.CrashSite(e.Text); site != "" {
			where = " in " + site
		}
		out = append(out, finding{
			message: fmt.Sprintf("%s panicked at %s%s: %s", e.Actor, clock(e.At), where, firstLine(why)),
			objects: []model.Ref{actorName(e.Actor)},
		})
	}
	return out
})
