package bench

import "fmt"

// Verified is reports/verify.json: what ipamsim verify covered of small worlds, what
// it did not, and what plain enumeration of the same schedules shows.
type Verified struct {
	Covered    []World `json:"covered"`
	Uncovered  []World `json:"uncovered"`
	Enumerated []World `json:"enumerated"`
}

// World is one search of a small world within bounds.
type World struct {
	World       string `json:"world"`
	File        string `json:"file,omitempty"` // from the module's root
	Manager     string `json:"manager,omitempty"`
	Preemptions int    `json:"preemptions"`
	Faults      int    `json:"faults"`
	Reorders    string `json:"reorders,omitempty"`  // if not the default of 2
	Schedules   int    `json:"schedules,omitempty"` // that plain enumeration runs
	Runs        int    `json:"runs"`                // of the search, without those at random
	Random      int    `json:"random,omitempty"`
	Ends        int    `json:"ends,omitempty"`
	Violations  int    `json:"violations,omitempty"`
	Result      string `json:"result,omitempty"`
}

// Tables is the tables of reports/VERIFY.md.
func (v *Verified) Tables() map[string]string {
	covered := "| world | manager | preemptions | faults | reorderings | schedules | runs | schedules for each run | at random " +
		"| result |\n|---|---|---:|---:|---|---:|---:|---:|---:|---|\n"
	for _, w := range v.Covered {
		covered += fmt.Sprintf("| %s | %s | %d | %d | %s | %s | %s | %s | %s | %s |\n", w.link(), w.Manager, w.Preemptions,
			w.Faults, w.reorders(), count(w.Schedules), count(w.Runs), w.saved(), count(w.Random), w.Result)
	}
	open := "| world | preemptions | faults | runs, with those at random | covered |\n|---|---:|---:|---:|---|\n"
	for _, w := range v.Uncovered {
		open += fmt.Sprintf("| %s | %d | %d | %s | %s |\n", w.link(), w.Preemptions, w.Faults, count(w.Runs+w.Random), w.Result)
	}
	plain := "| world | preemptions | faults | schedules, one by one | runs, reduced | at random | ends | violations |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|\n"
	for _, w := range v.Enumerated {
		plain += fmt.Sprintf("| %s | %d | %d | %s | %s | %s | %d | %d |\n", w.link(), w.Preemptions, w.Faults,
			count(w.Schedules), count(w.Runs), count(w.Random), w.Ends, w.Violations)
	}
	return map[string]string{"covered": covered, "uncovered": open, "enumerated": plain}
}

func (w *World) link() string {
	if w.File == "" {
		return w.World
	}
	return fmt.Sprintf("[%s](../%s)", w.World, w.File)
}

func (w *World) reorders() string {
	if w.Reorders == "" {
		return "2"
	}
	return w.Reorders
}

// saved is how many schedules a run of the search stands for, without those at random.
func (w *World) saved() string {
	x := float64(w.Schedules) / float64(w.Runs)
	if x < 10 {
		return number(x)
	}
	return number(float64(int(x + 0.5)))
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return number(float64(n))
}
