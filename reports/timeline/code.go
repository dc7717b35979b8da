package timeline

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// codeLines is the maximum length of the legend below the verdict, which lists the places in
// the manager's source: a line for the module and one for each place.
const codeLines = 8

// place is a line of the manager's source that sent messages of the timeline, and its caller.
type place struct {
	site   model.CallSite
	number int   // in the legend; 0: not listed
	worth  int   // the maximum of its messages
	steps  []int // its messages
}

// locate sets the place of the entries of at least weight glimpse. Messages that one line
// sent for one caller share a place.
func locate(r *reports.Report, entries []*entry) {
	type key struct{ sent, caller model.Frame }
	known := map[key]*place{}
	for _, e := range entries {
		site := r.CallSite(e.sent)
		if e.stack != "" && r.CrashSites != nil {
			site = r.CrashSites(e.stack)
		}
		if e.weight < glimpse || len(site.Frames) == 0 {
			continue
		}
		caller, _ := site.Caller()
		k := key{site.Frames[0], caller}
		if known[k] == nil {
			known[k] = &place{site: site}
		}
		e.place = known[k]
	}
}

// numberPlaces numbers the places in the order of the entries and returns them: those of
// the highest worth that fit in the legend, and the later ones among equals.
func numberPlaces(entries []*entry) []*place {
	var all []*place
	for _, e := range entries {
		p := e.place
		if p == nil {
			continue
		}
		if !slices.Contains(all, p) {
			p.number, p.worth, p.steps = 0, 0, nil
			all = append(all, p)
		}
		p.worth, p.steps = max(p.worth, e.worth()), append(p.steps, e.step)
	}
	worthy := slices.Clone(all)
	slices.Reverse(worthy)
	slices.SortStableFunc(worthy, func(a, b *place) int { return cmp.Compare(b.worth, a.worth) })
	worthy = worthy[:min(len(worthy), codeLines-1)]
	all = slices.DeleteFunc(all, func(p *place) bool { return !slices.Contains(worthy, p) })
	for i, p := range all {
		p.number = i + 1
	}
	return all
}

// worth ranks an entry's place. A read of a pod ranks above other reads: it is the reason
// why a reconciler releases the pod's address.
func (e *entry) worth() int {
	if e.mark == 'r' && e.about != nil && e.about.Resource == "pods" {
		return max(e.weight, reconcilerRead+1)
	}
	return e.weight
}

// glue is a space at which no line breaks. A clean text does not contain it.
const glue = "\x1f"

// noted wraps a text and appends the entry's number in the legend.
func (e *entry) noted(text string, width int) []string {
	if e.place == nil || e.place.number == 0 {
		return layout.Wrap(text, width)
	}
	lines := layout.Wrap(text+glue+e.place.mark(), width)
	for i := range lines { // a long word is cut wherever the line ends, at the glue as well
		lines[i] = strings.TrimSpace(strings.Replace(lines[i], glue, " ", 1))
	}
	return lines
}

func (p *place) mark() string { return "[" + strconv.Itoa(p.number) + "]" }

// legend lists the numbered places, each with its module if there are several.
func legend(places []*place) []string {
	if len(places) == 0 {
		return nil
	}
	var modules []string
	for _, p := range places {
		if !slices.Contains(modules, p.site.Module) {
			modules = append(modules, p.site.Module)
		}
	}
	out := []string{layout.Cut("   code: "+reports.Clean(strings.Join(modules, " + ")), layout.Width)}
	for _, p := range places {
		head := "   " + p.mark() + " "
		if len(modules) > 1 {
			name, _, _ := strings.Cut(p.site.Module, "@")
			head += path.Base(name) + ": "
		}
		out = append(out, head+p.line(layout.Width-utf8.RuneCountInString(head)))
	}
	return out
}

// line renders the place on one line. If it does not fit, line omits, in this order, the
// caller's name, all folders but the last, the last folder: a function's name locates it
// better than its folder. The folder of a caller in the same folder is always omitted.
func (p *place) line(width int) string {
	sent := p.site.Frames[0]
	caller, called := p.site.Caller()
	whole := func(file string) string { return file }
	last := func(file string) string { return path.Join(path.Base(path.Dir(file)), path.Base(file)) }
	var text string
	for _, form := range []struct {
		file  func(string) string
		named bool // includes the caller's name
	}{{whole, true}, {whole, false}, {last, true}, {last, false}, {path.Base, false}} {
		text = form.file(sent.File) + ":" + strconv.Itoa(sent.Line) + " " + sent.Name()
		if path.Dir(caller.File) == path.Dir(sent.File) {
			form.file = path.Base
		}
		if called {
			text += " ← " + form.file(caller.File) + ":" + strconv.Itoa(caller.Line)
		}
		if called && form.named {
			text += " " + caller.Name()
		}
		if text = reports.Clean(text); utf8.RuneCountInString(text) <= width {
			return text
		}
	}
	return layout.Cut(text, width)
}
