package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"ipamsim/scenarios/plan/values"
)

// written is a value that the file gives a setting, and where.
type written struct {
	name  string
	value any
	at    []any
}

// allWritten are the values of settings, axes and options, in the order of the file.
func (p *Plan) allWritten() (out []written) {
	spec := &p.Doc.Spec
	set := func(all Settings, at ...any) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			out = append(out, written{name, all[name], append(at[:len(at):len(at)], name)})
		}
	}
	set(spec.Settings, "spec", "settings")
	for i, a := range spec.Axes {
		for j, v := range a.Values {
			out = append(out, written{a.Setting, v, []any{"spec", "axes", i, "values", j}})
		}
	}
	for i, o := range spec.Options {
		set(o.Set, "spec", "options", i, "set")
	}
	return out
}

// sensible refuses settings without effect: a value that another one replaces, a time after the horizon, a
// setting without the one that it depends on.
func (p *Plan) sensible() error {
	all, horizon := p.allWritten(), p.Doc.Spec.Horizon.Duration.Duration
	given := map[string]bool{}
	for _, w := range all {
		given[w.name] = true
	}
	for _, w := range all {
		problem := alone(w.name, given)
		if problem == "" {
			problem = late(w, horizon)
		}
		if problem == "" && w.name == "podsPerNode" {
			problem = values.Idle(w.value)
		}
		if problem != "" {
			return p.sheet.Fail(problem, w.at...)
		}
	}
	return p.oneOf("pods", "podsPerNode")
}

// oneOf refuses two settings that replace each other. Only an option may set both: it overrides.
func (p *Plan) oneOf(a, b string) error {
	spec := &p.Doc.Spec
	both := a + " is there as well: want one of the two"
	has := func(all Settings, name string) bool { _, ok := all[name]; return ok }
	axis := func(name string) int {
		return slices.IndexFunc(spec.Axes, func(x Axis) bool { return x.Setting == name })
	}
	if has(spec.Settings, a) && has(spec.Settings, b) {
		return p.sheet.Fail(both, "spec", "settings", b)
	}
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		is, other := pair[0], pair[1]
		if axis(is) >= 0 && (axis(other) > axis(is) || has(spec.Settings, other)) {
			return p.sheet.Fail(other+" is there as well: want one of the two", "spec", "axes", axis(is), "setting")
		}
	}
	for i, o := range spec.Options {
		if has(o.Set, a) && has(o.Set, b) {
			return p.sheet.Fail(both, "spec", "options", i, "set", b)
		}
		for _, pair := range [][2]string{{a, b}, {b, a}} {
			if has(o.Set, pair[0]) && axis(pair[1]) >= 0 {
				return p.sheet.Fail(pair[1]+" is varied by an axis: want one of the two", "spec", "options", i, "set", pair[0])
			}
		}
	}
	return nil
}

// belongs are settings that say more about another one, and do nothing without any
// of these.
var belongs = map[string][]string{
	"drainFor": {"drainEvery"}, "crashFor": {"crashEvery"}, "replaceFor": {"replaceEvery"}, "keepNode": {"replaceEvery"},
	"evict": {"crashEvery", "replaceEvery"},
}

// alone renders the setting that is missing for another one to have an effect, or "".
func alone(name string, given map[string]bool) string {
	to := belongs[name]
	if len(to) == 0 || slices.ContainsFunc(to, func(n string) bool { return given[n] }) {
		return ""
	}
	return fmt.Sprintf("has no effect without %s", orList(to))
}

func orList(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return names[0] + " or " + names[1]
}

// within are the settings whose time has to come before the horizon, and what to
// write if it is not meant to come. Means of chance, such as drainEvery, may be
// longer.
var within = map[string]string{
	"growAt": "remove grow if no node joins", "drainFor": "", "crashFor": "", "replaceFor": "", "evict": "",
	"reconcileEvery": "want 0 for none", "grace": "want never to release nothing",
}

// late renders that a time is after the horizon, or "".
func late(w written, horizon time.Duration) string {
	instead, ok := within[w.name]
	if !ok {
		return ""
	}
	t, ok := values.SpanOf(w.value)
	if !ok || t <= horizon && (t < horizon || w.name != "growAt") {
		return ""
	}
	problem := fmt.Sprintf("%s is not before the horizon, %s", values.SpanText(t), values.SpanText(horizon))
	if instead != "" {
		problem += ": " + instead
	}
	return problem
}
