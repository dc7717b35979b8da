package shrink

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"ipamsim/fuzz/shrink/internal/tree"
)

// coarse removes large parts of the scenario: whole manifests, entries of the lists in the Scenario
// document, and pods.
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

// fine removes all other parts that the failure does not need.
func (k *shrinker) fine() {
	k.shorten()
	for d := range k.docs {
		k.prune(d, depthMax)
	}
}

// shorten ends the script soon after the violation, which occurs earlier in a shrunk scenario than in
// the original one.
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

const depthMax = 100 // the limit of a document's depth when it is loaded

// prune removes parts of document d, down to a depth of its tree. A part that could not be removed
// on its own in this round is not tried again.
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

// place identifies a value of a document during a round.
func (k *shrinker) place(d int, p tree.Path) string {
	return fmt.Sprint(tree.Value(k.docs[d], tree.Path{"kind"}), tree.Value(k.docs[d], tree.Path{"metadata", "name"}), p)
}

// fromTheStart converts objects that an operator applies during the run to manifests that exist from
// the start.
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

// with returns the documents with the d-th one replaced.
func (k *shrinker) with(d int, t tree.Tree) []tree.Tree {
	docs := slices.Clone(k.docs)
	docs[d] = t
	return docs
}

// optional lists the parts of a document that may be removed, parents first. The only entry of a list
// or mapping is left out, because it is the same as the whole.
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

// kept are keys that a document needs, or that do not affect the run.
var kept = map[string]bool{
	"apiVersion": true, "kind": true, "metadata": true, "name": true, "namespace": true, "spec": true, "ipam": true, "until": true,
	"labels": true, "selector": true, "matchLabels": true, "app": true, "template": true, "containers": true, "image": true,
	"config": true, "type": true, "cniVersion": true, "at": true, "schedule": true, "every": true, "resource": true,
}

// countable are keys of numbers that may be lowered.
var countable = map[string]bool{
	"replicas": true, "completions": true, "parallelism": true, "count": true, "max": true, "force": true,
}

// counts lowers numbers as far as the failure allows: to one, else to half, else by one.
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

// hasSettings reports whether the documents have as many settings of collectors as the original
// scenario.
func (k *shrinker) hasSettings(docs []tree.Tree) bool {
	return !tree.IsCollected(k.invariant) || tree.CountSettings(docs) >= k.settings
}
