package shrink

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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
		if docs, err := read(short); err == nil {
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
		if k.try(k.with(d, without(k.docs[d], optional[i:i+n])), k.rules) {
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
func (k *shrinker) place(d int, p path) string {
	return fmt.Sprint(value(k.docs[d], path{"kind"}), value(k.docs[d], path{"metadata", "name"}), p)
}

// fromTheStart makes what an operator applies a manifest that is there from the
// start.
func (k *shrinker) fromTheStart() {
	for i := 0; ; i++ {
		at := path{"spec", "timeline", i}
		entry, ok := value(k.docs[0], at).(map[string]any)
		if !ok {
			return
		}
		object := value(entry, path{"apply", "object"})
		if object != nil && k.try(append(k.with(0, without(k.docs[0], []path{at})), object), k.rules) {
			i--
		}
	}
}

// with is the documents with another d-th one.
func (k *shrinker) with(d int, t tree) []tree {
	docs := slices.Clone(k.docs)
	docs[d] = t
	return docs
}

// optional lists what may be left out of a document, parents first. Of a list or a
// mapping with one entry, the entry is the same as the whole.
func (k *shrinker) optional(d, depth int) []path {
	if isCollected(k.invariant) && value(k.docs[d], path{"kind"}) == settings {
		return nil
	}
	var out []path
	single := map[string]bool{}
	walk(k.docs[d], nil, func(p path, v tree) {
		if len(p) > depth || isKept(p) || isWhole(k.invariant, p) || k.needed[k.place(d, p)] {
			return
		}
		if !single[fmt.Sprint(p[:len(p)-1])] {
			out = append(out, p)
		}
		if entries(v) == 1 {
			single[fmt.Sprint(p)] = true
		}
	})
	return out
}

func isKept(p path) bool {
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
	var at []path
	walk(k.docs[d], nil, func(p path, t tree) {
		if key, _ := p[len(p)-1].(string); countable[key] {
			at = append(at, p)
		}
	})
	for _, p := range at {
		for k.lower(d, p) {
		}
	}
}

func (k *shrinker) lower(d int, p path) bool {
	n, _ := value(k.docs[d], p).(json.Number)
	have, _ := n.Int64()
	for _, want := range []int64{1, have / 2, have - 1} {
		if want < 1 || want >= have {
			continue
		}
		if k.try(k.with(d, edit(k.docs[d], p, func(tree) (tree, bool) { return json.Number(strconv.FormatInt(want, 10)), true })), k.rules) {
			return true
		}
	}
	return false
}
