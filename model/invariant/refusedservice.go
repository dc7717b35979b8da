package invariant

import "ipamsim/model"

// Codes of RefusedService: the resource that is said to be exhausted.
const (
	addressesFull = "addresses"
	nodePortsFull = "node-ports"
	addressTaken  = "address-taken"
	nodePortTaken = "node-port-taken"
)

// RefusedService is an answer that a range is full which is not, or that an address or a node
// port is allocated which was free, or which the Service does not ask for. How many were free
// is counted at all times while the request was under way.
var RefusedService = define(Invariant{
	Name:     "refused-service",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No Service is refused for lack of addresses or node ports while some are free.",
	Kinds: []Kind{
		{addressesFull, "{service} was refused at {at}, because the range of addresses was reported full; it never had fewer than {free} free"},
		{nodePortsFull, "{service} was refused at {at}, because the range of node ports was reported full; it never had fewer than {free} free"},
		{addressTaken, "{service} was refused at {at}, because an address was reported allocated; it requests none that was, and the range never had fewer than {free} free"},
		{nodePortTaken, "{service} was refused at {at}, because a node port was reported allocated; it requests none that was, and the range never had fewer than {free} free"},
	},
	Cause: CauseRule{Start: FromWrite, Write: WriteRule{Answered: true}},
}, func(v View) (out []finding) {
	if v.Record.Services == nil {
		return nil
	}
	for _, r := range v.Record.Services.Refusals {
		if r.Free <= 0 {
			continue
		}
		code := addressesFull
		switch {
		case r.Ports && r.Allocated:
			code = nodePortTaken
		case r.Ports:
			code = nodePortsFull
		case r.Allocated:
			code = addressTaken
		}
		out = append(out, finding{
			code: code, objects: []model.Ref{model.ServiceOf(r.Service)},
			facts: []model.Fact{model.NewFact("at", r.At), model.NewFact("free", r.Free)},
		})
	}
	return out
})
