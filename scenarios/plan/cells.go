package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/plan/values"
	"ipamsim/scenarios/strict"
)

// cellsMax bounds the product of axes and options.
const cellsMax = 2000

// asked checks what is asked, and fills in what the file leaves to defaults.
func (p *Plan) asked() error {
	s := &p.Doc.Spec
	fail := p.sheet.Fail
	seed := uint64(1)
	s.Repeats, s.Samples, s.Engine = cmp.Or(s.Repeats, repeatsDefault), cmp.Or(s.Samples, workload.SamplesDefault), cmp.Or(s.Engine, Reference)
	if s.Seed == nil {
		s.Seed = &seed
	}
	switch {
	case p.Doc.Metadata.Name == "" || len(p.Doc.Metadata.Name) > 100 || strings.ContainsAny(p.Doc.Metadata.Name, "/\\ \n\t"):
		return fail("want a name of at most 100 letters, without spaces", "metadata", "name")
	case s.Horizon.Duration.Duration < horizonMin || s.Horizon.Duration.Duration > horizonMax:
		return fail(fmt.Sprintf("want %s to %s", values.SpanText(horizonMin), values.SpanText(horizonMax)), "spec", "horizon")
	case s.Repeats < 1 || s.Repeats > repeatsMax:
		return fail(fmt.Sprintf("want 1 to %d", repeatsMax), "spec", "repeats")
	case s.Want.From.Duration.Duration >= s.Horizon.Duration.Duration:
		return fail("want a time before the horizon, "+s.Horizon.String(), "spec", "want", "from")
	case s.Samples < 2 || s.Samples > samplesMax:
		return fail(fmt.Sprintf("want 2 to %d", samplesMax), "spec", "samples")
	}
	return nil
}

// choice is a value of an axis, or an option.
type choice struct {
	at   []any // where the file says it
	text string
	put  map[string]any // settings, by name
}

// cells makes one cell for each combination of the values of the axes, the last
// axis changing fastest, and in each of them one for each option.
func (p *Plan) cells() error {
	first := p.first()
	if err := p.puts(first, p.Doc.Spec.Settings, "spec", "settings"); err != nil {
		return err
	}
	axes, err := p.choices(first)
	if err != nil {
		return err
	}
	count := 1
	for _, a := range axes {
		if count *= len(a); count > cellsMax {
			return p.sheet.Fail(fmt.Sprintf("more than %d combinations of axes and options: use fewer values, or fewer axes", cellsMax), "spec", "axes")
		}
	}
	cache := map[string]*made{}
	for i := range count {
		d, c, rest := first.clone(), Cell{}, i
		picked := make([]choice, len(axes))
		for k := len(axes) - 1; k >= 0; k-- {
			picked[k] = axes[k][rest%len(axes[k])]
			rest /= len(axes[k])
		}
		for k, x := range picked {
			for _, name := range slices.Sorted(maps.Keys(x.put)) {
				s, _ := p.setting(name) // checked by choices
				d.put(s, x.put[name])
			}
			if k < len(p.Doc.Spec.Axes) {
				c.Values = append(c.Values, x.text)
			} else {
				c.Option = x.text
			}
		}
		if err := p.cell(d, c, picked, cache); err != nil {
			return err
		}
	}
	return nil
}

// puts gives a draft settings, those of the file at a path.
func (p *Plan) puts(d *Draft, all Settings, path ...any) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := append(path[:len(path):len(path)], name)
		s, ok := p.setting(name)
		if !ok {
			return p.sheet.Fail("unknown setting, "+strict.Want(name, p.names()), at...)
		}
		if problem := d.put(s, all[name]); problem != "" {
			return p.sheet.Fail(problem, at...)
		}
	}
	return nil
}

func (p *Plan) names() []string {
	var out []string
	for _, s := range Known(p.sheet.Managers()) {
		out = append(out, s.Name)
	}
	return out
}

// choices checks the values of axes and options one by one.
func (p *Plan) choices(first *Draft) (out [][]choice, err error) {
	seen := map[string]bool{}
	for i, a := range p.Doc.Spec.Axes {
		switch {
		case seen[a.Setting]:
			return nil, p.sheet.Fail("varied twice", "spec", "axes", i, "setting")
		case len(a.Values) == 0:
			return nil, p.sheet.Fail("empty, want the values that "+a.Setting+" takes", "spec", "axes", i, "values")
		}
		if _, ok := p.setting(a.Setting); !ok {
			return nil, p.sheet.Fail("unknown setting, "+strict.Want(a.Setting, p.names()), "spec", "axes", i, "setting")
		}
		seen[a.Setting] = true
		var all []choice
		for j, v := range a.Values {
			at := []any{"spec", "axes", i, "values", j}
			s, _ := p.setting(a.Setting)
			if problem := first.clone().put(s, v); problem != "" {
				return nil, p.sheet.Fail(problem, at...)
			}
			c := choice{at, p.textOf(v, at), map[string]any{a.Setting: v}}
			if slices.ContainsFunc(all, func(o choice) bool { return o.text == c.text }) {
				return nil, p.sheet.Fail("duplicate value", at...)
			}
			all = append(all, c)
		}
		out = append(out, all)
	}
	options, err := p.options(first, seen)
	if len(options) > 0 {
		out = append(out, options)
	}
	return out, err
}

func (p *Plan) options(first *Draft, axes map[string]bool) (out []choice, err error) {
	for i, o := range p.Doc.Spec.Options {
		at := []any{"spec", "options", i}
		if strings.TrimSpace(o.Name) == "" || slices.ContainsFunc(out, func(c choice) bool { return c.text == o.Name }) {
			return nil, p.sheet.Fail("want a name that no other option has", append(at, "name")...)
		}
		if err := p.puts(first.clone(), o.Set, append(at, "set")...); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(o.Set)) {
			if axes[name] {
				return nil, p.sheet.Fail("varied by an axis as well", append(at, "set", name)...)
			}
		}
		out = append(out, choice{append(at, "set"), o.Name, o.Set})
	}
	return out, nil
}

// textOf is a value as the file writes it.
func (p *Plan) textOf(v any, at []any) string {
	if s := p.sheet.Text(at...); s != "" {
		return s
	}
	if d, ok := values.DistributionOf(v); ok {
		return values.DistributionText(d)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// cell finishes a combination.
func (p *Plan) cell(d *Draft, c Cell, picked []choice, cache map[string]*made) error {
	blame := func(name, problem string) error { return p.blame(name, problem, c, picked) }
	if p.manager.Tenants != nil {
		d.nodes, d.Load.MaxPods = 1, podsMax
	}
	m, err := p.make(d, cache)
	if wrong := (*Mistake)(nil); errors.As(err, &wrong) {
		return blame(wrong.Setting, wrong.Problem)
	}
	if err != nil {
		return blame(p.guilty(d), err.Error())
	}
	if name, problem := p.kept(d); problem != "" {
		return blame(name, problem)
	}
	if d.nodes = len(m.machines); d.nodes == 0 {
		return blame("nodes", "missing, want the number of nodes, or Node manifests")
	}
	if name, problem := d.complete(); problem != "" {
		return blame(name, problem)
	}
	var nodes []string
	for _, n := range m.nodes {
		nodes = append(nodes, n.Name)
	}
	if field, problem := d.fabric.Check(nodes); problem != "" {
		if d.Given("topology") {
			return blame("topology", problem)
		}
		return p.sheet.Fail(field+": "+problem, "spec", "fabric")
	}
	c.Cluster = capacity.Cluster{
		Workload: workload.Workload{
			Nodes: m.nodes, Load: d.Load, Trouble: d.Trouble, Collect: d.Collect,
			Horizon: p.Doc.Spec.Horizon.Duration.Duration, Samples: p.Doc.Spec.Samples,
			RestartEvery: d.RestartEvery,
		},
		Fabric: d.fabric, JudgeFrom: p.Doc.Spec.Want.From.Duration.Duration,
	}
	err = p.configure(&c, m, d)
	if err == nil && p.begins() {
		m, err = p.moves(&c, d, m, cache)
	}
	if wrong := (*Mistake)(nil); errors.As(err, &wrong) {
		return blame(wrong.Setting, wrong.Problem)
	}
	if err != nil {
		return blame(p.guilty(d), err.Error())
	}
	p.Cells, p.made = append(p.Cells, c), append(p.made, m)
	return nil
}

// guilty is the setting that a refused manifest is most likely due to, or "".
func (p *Plan) guilty(d *Draft) string {
	for _, name := range p.manager.Blame {
		if d.Given(name) {
			return name
		}
	}
	return ""
}

// blame is the mistake where the file gives a setting its value; name may be "".
func (p *Plan) blame(name, problem string, c Cell, picked []choice) error {
	at := []any{"spec", "settings", name}
	for k, x := range picked {
		if _, ok := x.put[name]; ok {
			at = x.at
			if k >= len(p.Doc.Spec.Axes) {
				at = append(at[:len(at):len(at)], name)
			}
		}
	}
	if name == "" {
		at = []any{"spec"}
	}
	if len(picked) > 0 {
		problem = fmt.Sprintf("%s (cell %d: %s)", problem, len(p.Cells)+1, c.Title())
	}
	return p.sheet.Fail(problem, at...)
}

// Title is the cell for people: its option and the values of the axes.
func (c Cell) Title() string {
	all := c.Values
	if c.Option != "" {
		all = append([]string{c.Option}, all...)
	}
	return strings.Join(all, ", ")
}
