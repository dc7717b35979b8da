package invariant

import "ipamsim/model"

// ActorCrash is a process of the address manager that panicked, for whatever
// reason: no input from the cluster may do that.
var ActorCrash = define(Invariant{
	Name:     "actor-crash",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No process of the address manager panics.",
	Kinds:    []Kind{{"", "{actor} panicked at {at}[ in {site}]: {value}"}},
	Cause:    CauseRule{Start: FromPanic},
	Fatal:    true,
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
		facts := []model.Fact{model.NewFact("at", e.At), model.NewFact("value", firstLine(why))}
		if site := model.CrashSite(e.Text); site.Known() {
			facts = append(facts, model.NewFact("site", site))
		}
		out = append(out, finding{objects: []model.Ref{actorName(e.Actor)}, facts: facts})
	}
	return out
})
