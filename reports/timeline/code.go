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

// codeLines are how many lines say, under the verdict, where in the manager's own source
// the story happened: whose source it is, and a line for each place.
const codeLines = 8

// place is one line of the manager's source that sent messages of the story, and who
// called it.
type place struct {
	site   model.CallSite
	number int   // in the legend; 0: it is not there
	worth  int   // of its worthiest message
	steps  []int // its messages
}

// locate says of the entries on which the story turns where they were sent. Messages
// that were sent from one line for one caller share a place.
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

// numberPlaces numbers the places in the order of the entries, and lists them: as many as a
// legend has lines for, the worthiest, and of equal ones the later.
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

// worth is what it is worth to say where a message was sent. What was seen of a pod is
// why its address was taken away: that comes before the lists that were read on the way.
func (e *entry) worth() int {
	if e.mark == 'r' && e.about != nil && e.about.Resource == "pods" {
		return max(e.weight, look+1)
	}
	return e.weight
}

// glue stands for a space at which no line ends. A clean text has none.
const glue = "\x1f"

// noted are the lines of a text that ends with the entry's number in the legend.
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

// legend says where the numbered places are. Of several modules it says with each place
// whose it is.
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

// line is the place on one line. What does not fit is left out in this order: the
// caller's name, the folders but the last, the last: a function's name says more of
// where it is than its folder. A caller in the same folder is said without.
func (p *place) line(width int) string {
	sent := p.site.Frames[0]
	caller, called := p.site.Caller()
	whole := func(file string) string { return file }
	last := func(file string) string { return path.Join(path.Base(path.Dir(file)), path.Base(file)) }
	var text string
	for _, form := range []struct {
		file  func(string) string
		named bool // the caller is
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
