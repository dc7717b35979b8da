package por

// What is judged falls into things: pods, containers, addresses. What is wrong with one can
// be seen by it, and by the things that it has been joined with: a step that touches two
// joins them, as an ADD does that gives a pod an address. Steps that touch things which
// nothing has joined may go in either order, for neither changes what is said of the other.
//
// It is joined by run, and not once for all: two pods that get one address in different
// schedules are strangers in each of them. That is enough. Let a schedule join things one
// after the other. The step that joins x and y depends on each one before it that touches
// either, so that its past has these, in their order, and the run that shows it joins x and
// y. From then on all steps that touch one of the two are in order, and the run that shows the
// last of them has all of them.

// Whole is touched by what concerns everything that is judged.
const Whole = "*"

// learnJudged takes in what the steps of a run touch, and what they join.
func (r *Relation) learnJudged(l *Log) {
	with := map[string]string{} // a parent of each thing
	root := func(thing string) string {
		for with[thing] != "" {
			thing = with[thing]
		}
		return thing
	}
	join := func(things []string) {
		first := ""
		for _, t := range things {
			switch a, b := root(first), root(t); {
			case t == Whole:
			case first == "":
				first = t
			case a != b:
				with[b] = a
			}
		}
	}
	for _, things := range l.Joined {
		join(things)
	}
	for i := range l.Steps {
		s := &l.Steps[i]
		r.learnTouches(deed{l.Offers[s.Offer].Name, s.Outcome}, s.Touches)
		join(s.Touches)
	}
	groups := map[string][]string{}
	for t := range with {
		groups[root(t)] = append(groups[root(t)], t)
	}
	for all, members := range groups {
		members = append(members, all)
		for i, a := range members {
			for _, b := range members[:i] {
				r.learnTogether(a, b)
			}
		}
	}
}

func (r *Relation) learnTouches(d deed, things []string) {
	if len(things) > 0 && r.touches[d] == nil {
		r.touches[d] = map[string]bool{}
	}
	for _, t := range things {
		if !r.touches[d][t] {
			r.touches[d][t] = true
			r.grown++
		}
	}
}

func (r *Relation) learnTogether(a, b string) {
	if p := [2]string{min(a, b), max(a, b)}; !r.together[p] {
		r.together[p] = true
		r.grown++
	}
}

// judgedTogether reports whether two steps touch things that are judged together.
func (r *Relation) judgedTogether(a, b deed) bool {
	for x := range r.touches[a] {
		for y := range r.touches[b] {
			if x == y || x == Whole || y == Whole || r.together[[2]string{min(x, y), max(x, y)}] {
				return true
			}
		}
	}
	return false
}
