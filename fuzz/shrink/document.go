package shrink

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"ipamsim/fuzz/shrink/internal/tree"
)

// coarse makes the scenario smaller by what is large: whole manifests, entries of
// the lists in the Scenario document, and pods.
func (k *shrinker) coarse() {
	k.halves(func() int { return len(k.docs) - 1 }, func(i, n int) bool {
		return k.try(slices.Delete(slices.Clone(k.docs), 1+i, 1+i+n), k.rules)
	})
	k.prune(0, 3)
	k.fromTheStart()
	for d := range k.docs {
		k.counts(d)
	}
}

// fine leaves out whatever else can be.
func (k *shrinker) fine() {
	k.shorten()
	for d := range k.docs {
		k.prune(d, depthMax)
	}
}

// shorten ends the script soon after the violation, which comes earlier in a small
// world than it did in the large one.
func (k *shrinker) shorten() {
	v := k.lock.In(k.rep)
	if v == nil {
		return
	}
	if short, err := cut(k.world, v).Documents(); err == nil {
		if docs, err := tree.Read(short); err == nil {
			k.try(docs, k.rules)
		}
	}
}

const depthMax = 100 // of a document, as loading has it

// prune leaves out what document d can do without, down to a depth of its tree.
// What was needed on its own before in this round is not asked again.
func (k *shrinker) prune(d, depth int) {
	optional := k.optional(d, depth)
	k.halves(func() int { return len(optional) }, func(i, n int) bool {
		if k.try(k.with(d, tree.Without(k.docs[d], optional[i:i+n])), k.rules) {
			optional = k.optional(d, depth)
			return true
		}
		if n == 1 {
			k.needed[k.place(d, optional[i])] = true
		}
		return false
	})
}

// place names a value of a document for the time of a round.
func (k *shrinker) place(d int, p tree.Path) string {
	return fmt.Sprint(tree.Value(k.docs[d], tree.Path{"kind"}), tree.Value(k.docs[d], tree.Path{"metadata", "name"}), p)
}

// fromTheStart makes what an operator applies a manifest that is there from the
// start.
func (k *shrinker) fromTheStart() {
	for i := 0; ; i++ {
		at := tree.Path{"spec", "timeline", i}
		entry, ok := tree.Value(k.docs[0], at).(map[string]any)
		if !ok {
			return
		}
		object := tree.Value(entry, tree.Path{"apply", "object"})
		if object != nil && k.try(append(k.with(0, tree.Without(k.docs[0], []tree.Path{at})), object), k.rules) {
			i--
		}
	}
}

// with is the documents with another d-th one.
func (k *shrinker) with(d int, t tree.Tree) []tree.Tree {
	docs := slices.Clone(k.docs)
	docs[d] = t
	return docs
}

// optional lists what may be left out of a document, parents first. Of a list or a
// mapping with one entry, the entry is the same as the whole.
func (k *shrinker) optional(d, depth int) []tree.Path {
	if tree.IsCollected(k.invariant) && tree.Value(k.docs[d], tree.Path{"kind"}) == tree.Settings {
		return nil
	}
	var out []tree.Path
	single := map[string]bool{}
	tree.Walk(k.docs[d], nil, func(p tree.Path, v tree.Tree) {
		if len(p) > depth || isKept(p) || tree.IsWhole(k.invariant, p) || k.needed[k.place(d, p)] {
			return
		}
		if !single[fmt.Sprint(p[:len(p)-1])] {
			out = append(out, p)
		}
		if tree.Entries(v) == 1 {
			single[fmt.Sprint(p)] = true
		}
	})
	return out
}

func isKept(p tree.Path) bool {
	if key, ok := p[len(p)-1].(string); ok {
		return kept[key]
	}
	return len(p) > 1 && p[len(p)-2] == "containers"
}

// kept are keys that a document cannot do without, or that are nobody's concern.
var kept = map[string]bool{
	"apiVersion": true, "kind": true, "metadata": true, "name": true, "namespace": true, "spec": true, "ipam": true, "until": true,
	"labels": true, "selector": true, "matchLabels": true, "app": true, "template": true, "containers": true, "image": true,
	"config": true, "type": true, "cniVersion": true, "at": true, "schedule": true, "every": true, "resource": true,
}

// countable are keys of numbers of which less is less.
var countable = map[string]bool{
	"replicas": true, "completions": true, "parallelism": true, "count": true, "max": true, "force": true,
}

// counts lowers numbers: to one, else to half, else by one, as long as that works.
func (k *shrinker) counts(d int) {
	var at []tree.Path
	tree.Walk(k.docs[d], nil, func(p tree.Path, t tree.Tree) {
		if key, _ := p[len(p)-1].(string); countable[key] {
			at = append(at, p)
		}
	})
	for _, p := range at {
		for k.lower(d, p) {
		}
	}
}

func (k *shrinker) lower(d int, p tree.Path) bool {
	n, _ := tree.Value(k.docs[d], p).(json.Number)
	have, _ := n.Int64()
	for _, want := range []int64{1, have / 2, have - 1} {
		if want < 1 || want >= have {
			continue
		}
		if k.try(k.with(d, tree.Edit(k.docs[d], p, func(tree.Tree) (tree.Tree, bool) { return json.Number(strconv.FormatInt(want, 10)), true })), k.rules) {
			return true
		}
	}
	return false
}

// hasSettings reports whether the documents hold as many settings of collectors as
// the failure was seen with.
func (k *shrinker) hasSettings(docs []tree.Tree) bool {
	return !tree.IsCollected(k.invariant) || tree.CountSettings(docs) >= k.settings
}
