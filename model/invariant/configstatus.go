package invariant

import "ipamsim/model"

// Codes of ConfigStatus: the actual state of the configuration.
const (
	configValid   = "valid"
	configInvalid = "invalid"
	unexplained   = "unexplained"
)

// ConfigStatus is a status that reports a valid configuration although a pool has a mistake,
// while the manager continues with the pools as they were.
var ConfigStatus = define(Invariant{
	Name:     "config-status",
	Severity: model.Minor,
	Phase:    Quiescent,
	Doc:      "Once all is calm, the status that a load balancer manager writes for its configuration is right: valid or invalid, and if invalid, why.",
	Kinds: []Kind{
		{configValid, "after convergence the configuration is valid, but the status of {config} reports {said}"},
		{configInvalid, "after convergence the configuration is invalid, but the status of {config} reports {said}"},
		{unexplained, "after convergence the configuration is invalid, but the status of {config} gives no reason"},
	},
	Cause: CauseRule{Start: FromWrite},
}, func(v View) []finding {
	if v.Record.Services == nil || v.Record.Services.Config == nil || !served(&v) {
		return nil
	}
	c := v.Record.Services.Config
	code, want := configInvalid, model.ConfigInvalid
	if c.Valid {
		code, want = configValid, model.ConfigValid
	}
	f := finding{code: code, objects: []model.Ref{{Kind: model.RefConfig, Name: c.Name}}}
	switch {
	case c.Says != want:
		f.facts = []model.Fact{model.NewFact("said", c.Says)}
	case !c.Valid && c.Why == "":
		f.code = unexplained
	default:
		return nil
	}
	return []finding{f}
})
