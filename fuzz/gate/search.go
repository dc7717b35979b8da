package gate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/settle"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/baseline"
	"ipamsim/scenarios"
)

// Search runs other scenarios than those of the library for a limited time, to find what a
// fork breaks and its upstream does not: failures whose cause is on no list (fuzz/known).
type Search struct {
	Time  time.Duration // 0: no search
	Dir   string        // where findings are written, as files that replay
	Known string        // the directory of the lists: known.Dir
	// Drawn: after the corpora run generated scenarios. (make test ensures that the release
	// has no new failure in the corpora.)
	Drawn bool
	First uint64 // the seed of the first generated scenario; 0: 1, after the corpora
	Kinds int    // the search ends after so many kinds of failures; 0: newsMax
	// Library are scenarios to run once each, after the corpora and before the generated
	// ones, if their manager is searched.
	Library []*scenarios.Scenario
}

// Forks returns the managers of scenarios whose upstream is replaced, sorted.
func Forks(all []*scenarios.Scenario) []string {
	out := map[string]bool{}
	for _, s := range all {
		if strings.Contains(s.Manager().Upstream, " => ") {
			out[s.Doc.Spec.IPAM] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// managers returns the managers to search: the forks, or all if there is none.
func (g *Gate) managers() []string {
	if forks := Forks(g.Scenarios); len(forks) > 0 {
		return forks
	}
	all := map[string]bool{}
	for _, s := range g.Scenarios {
		all[s.Doc.Spec.IPAM] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// among returns the managers with which the scenarios were loaded.
func (g *Gate) among() scenarios.Managers {
	if len(g.Scenarios) == 0 {
		return nil
	}
	return g.Scenarios[0].Managers()
}

// candidates are the inputs of a search: the corpora of its targets and the library, then an
// unlimited number of generated scenarios.
type candidates struct {
	mu      sync.Mutex
	targets []string
	corpus  []*candidate
	first   uint64 // seed
	drawn   uint64
	draws   bool
}

func (g *Gate) pack() (*candidates, error) {
	p := &candidates{draws: g.Search.Drawn || g.Search.First > 0, first: max(1, g.Search.First)}
	for _, m := range g.managers() {
		p.targets = append(p.targets, input.TargetsFor(g.among(), m)...)
	}
	slices.Sort(p.targets)
	p.targets = slices.Compact(p.targets)
	for _, t := range p.targets {
		if _, err := known.Load(g.Search.Known, input.Lists(g.among(), t)...); err != nil {
			return nil, err
		}
		if g.Search.First > 0 {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(filepath.Dir(g.Search.Known), "fuzz", t, "*"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			in, err := input.ParseFile(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			p.corpus = append(p.corpus, &candidate{Target: t, World: in.World, Schedule: in.Schedule})
		}
	}
	if g.Search.First == 0 {
		p.corpus = append(p.corpus, g.library()...)
	}
	return p, nil
}

// library returns the scenarios of the library to search, the shortest first.
func (g *Gate) library() (out []*candidate) {
	steps := map[string]int{}
	for _, s := range g.Search.Library {
		if s.Doc.Spec.Schedule != nil || !slices.Contains(g.managers(), s.Doc.Spec.IPAM) {
			continue
		}
		if e := g.Baseline.Entry(s.Name()); e != nil {
			steps[s.File] = e.Runs[0].Steps
		}
		out = append(out, &candidate{Target: s.File})
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(steps[a.Target], steps[b.Target]) })
	return out
}

// next returns the next candidate, nil if there is none. Generated scenarios run once with the
// default order and once with another.
func (p *candidates) next() *candidate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.corpus) > 0 {
		first := p.corpus[0]
		p.corpus = p.corpus[1:]
		return first
	}
	if !p.draws {
		return nil
	}
	n := p.drawn
	p.drawn++
	turns := uint64(len(p.targets))
	seed := p.first + n/turns/2
	out := &candidate{Target: p.targets[n%turns], Seed: seed, World: input.Choices(seed)}
	if n/turns%2 == 1 {
		out.Schedule = input.Choices(^seed)[:scheduleBytes]
	}
	return out
}

// scheduleBytes changes the order of a run at some tens of decisions.
const scheduleBytes = 64

// search adds a row to the outcome. It is red if a new cause is found.
func (h *session) search(ctx context.Context, o *baseline.Outcome) error {
	row := baseline.Row{Scenario: "search", Line: 1, Manager: strings.Join(h.managers(), ", "), Title: "worlds that no scenario names", Search: true}
	leftOut := func(why string) {
		row.Changes = append(row.Changes, baseline.Change{Kind: baseline.LeftOut, Regression: true, What: "search", Before: "-", After: "not searched", Sentence: "Nothing was searched: " + why + "."})
	}
	p, err := h.pack()
	switch {
	case err != nil:
		leftOut(err.Error())
	case len(p.targets) == 0:
		return nil
	default:
		b, err := h.searchAll(ctx, p)
		if err != nil {
			return err
		}
		if row.Runs, o.Searched = b.runs, b.runs; b.runs == 0 {
			leftOut("the time of this gate, " + h.Budget.String() + ", was up")
		}
		if err := h.publish(b, &row); err != nil {
			return err
		}
	}
	if len(row.Changes) > 0 {
		o.Rows = append(o.Rows, row)
	}
	return nil
}

// results are the results of a search.
type results struct {
	mu         sync.Mutex
	runs       int
	news       map[string]News // by class
	dead       map[string]*candidate
	causes     map[string]string // why they died
	defects    []string
	signatures settle.Signatures
}

// newsMax is the default of Search.Kinds.
const newsMax = 3

// full reports whether enough was found.
func (b *results) full(kinds int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.news)+len(b.dead) >= cmp.Or(kinds, newsMax)
}

// settles sets in a request which failures with known signatures to shrink.
func (b *results) settles(p *candidate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.Settle, p.Settled = b.signatures.Due(b.runs), b.signatures.Settled()
}

func (b *results) add(t *task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs++
	b.signatures.Tried(t.answer.Tried, t.answer.Trials)
	for _, n := range t.answer.News {
		n.Found = baseline.Found{Cause: n.Class, Target: t.Hunt.Target, Seed: t.Hunt.Seed, Worlds: b.runs}
		if _, have := b.news[n.Class]; !have {
			b.news[n.Class] = n
		}
	}
	for _, inv := range t.answer.Run.Violated { // of a process that died
		if b.dead[inv] == nil {
			b.dead[inv], b.causes[inv] = t.Hunt, t.answer.Seen[inv].Message
		}
	}
	if t.answer.Defect != "" {
		b.defects = append(b.defects, t.answer.Defect)
	}
}

// searchAll runs candidates until the time is up.
func (h *session) searchAll(ctx context.Context, p *candidates) (*results, error) {
	b := &results{news: map[string]News{}, dead: map[string]*candidate{}, causes: map[string]string{}}
	late, cancel := context.WithCancelCause(ctx)
	defer h.progressing(late)()
	defer cancel(nil)
	until := time.Now().Add(h.Search.Time)
	defer time.AfterFunc(h.Search.Time+keepMax, func() { cancel(errLate) }).Stop()
	var all sync.WaitGroup
	for range h.Parallel {
		all.Go(func() {
			place := h.place()
			defer place.Clear()
			for late.Err() == nil && time.Now().Before(until) && !b.full(h.Search.Kinds) {
				w := p.next()
				if w == nil {
					break
				}
				t := &task{ask: ask{Hunt: w}, result: noResult}
				t.Hunt.Known = h.Search.Known
				b.settles(t.Hunt)
				h.mu.Lock()
				h.all++
				h.mu.Unlock()
				if err := h.one(late, place, t); err != nil {
					cancel(err)
				}
				if h.reportProgress(1); t.done {
					b.add(t)
				}
			}
		})
	}
	all.Wait()
	return b, unlessLate(late)
}

// keepMax is the time after the end of the search to repeat failures on etcd and to shrink them.
const keepMax = 20 * time.Second

// publish writes the findings to files, and adds them to the row.
func (h *session) publish(b *results, row *baseline.Row) error {
	for _, class := range slices.Sorted(maps.Keys(b.news)) {
		n := b.news[class]
		file := filepath.Join(h.Search.Dir, finding.File(n.Fingerprint))
		if err := keep(file, n.YAML); err != nil {
			return err
		}
		if n.RealYAML != nil {
			if err := keep(filepath.Join(h.Search.Dir, finding.RealFile(n.Fingerprint)), n.RealYAML); err != nil {
				return err
			}
		}
		row.File = cmp.Or(row.File, file)
		row.Changes = append(row.Changes, baseline.Change{
			Kind: baseline.NewViolation, Regression: true, What: n.Invariant, Severity: model.Severity(n.Severity), Before: "not known", After: "found",
			Sentence: fmt.Sprintf("%s. Its cause is not among the known causes of the upstream code (%s: %s).%s", strings.TrimSuffix(n.Sentence, "."), h.Search.Known, class, sentence(n.Real)),
			Command:  "ipamsim replay " + reports.Shell(file), Timeline: n.Timeline, Step: n.Step,
			File: file, Calls: n.Calls, Found: &n.Found,
		})
	}
	for _, inv := range slices.Sorted(maps.Keys(b.dead)) {
		p := b.dead[inv]
		file, command := p.Target, "ipamsim run "+reports.Shell(p.Target)
		if !p.written() {
			file = filepath.Join(h.Search.Dir, p.Target, p.input().FileName())
			command = "ipamsim finding " + reports.Shell(file) + " --out " + reports.Shell(h.Search.Dir)
			if err := keep(file, p.input().File()); err != nil {
				return err
			}
		}
		row.File = cmp.Or(row.File, file)
		row.Changes = append(row.Changes, baseline.Change{
			Kind: baseline.NewViolation, Regression: true, What: inv, Severity: model.Critical, Before: "not known", After: "found",
			Sentence: b.causes[inv], Command: command, File: file,
		})
	}
	for _, d := range b.defects[:min(len(b.defects), newsMax)] {
		row.Changes = append(row.Changes, baseline.Change{Kind: baseline.CannotRun, Regression: true, What: "run", Before: "-", After: "did not",
			Sentence: "A world of the search could not be run: " + d})
	}
	return nil
}

// sentence returns s as another sentence, or nothing.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return " " + s + "."
}

// keep writes a file, and creates its directory.
func keep(file string, text []byte) error {
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = os.WriteFile(file, text, 0o666)
	}
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
