package shrink

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"ipamsim/fuzz/shrink/internal/tree"
	"ipamsim/sim/strategy"
)

// plainly looks for a part of the world that fails in the default order, instead of
// all the exceptions about order. Where a random walk led to the failure, hundreds of
// them say who was where when it happened: without one document or pod hardly any
// still means what it meant, so that nothing can be left out of such a world. A part
// of it in the default order often fails as well, and then none is needed.
//
// Which parts those are depends on nothing but the world.
func (k *shrinker) plainly() {
	if !k.crowded() {
		return
	}
	rest := k.orderless()
	for n := range partsMax {
		if k.spent() || k.try(k.part(n), rest) {
			return
		}
	}
}

// partsMax parts are about as much work as hold does.
const partsMax = 24

// part is the n-th of the documents' parts: without some manifests, entries of the
// lists in the Scenario document, and replicas beyond the first.
func (k *shrinker) part(n int) []tree.Tree {
	less := slices.DeleteFunc(k.optional(0, entriesDepth), func(p tree.Path) bool {
		_, entry := p[len(p)-1].(int)
		return !entry || !leaves(n, k.place(0, p))
	})
	out := []tree.Tree{tree.Without(k.docs[0], less)}
	for d := 1; d < len(k.docs); d++ {
		if leaves(n, k.place(d, nil)) {
			continue
		}
		doc := k.docs[d]
		tree.Walk(doc, nil, func(p tree.Path, v tree.Tree) {
			if key, _ := p[len(p)-1].(string); key == "replicas" && v != json.Number("0") && leaves(n, k.place(d, p)) {
				doc = tree.Edit(doc, p, func(tree.Tree) (tree.Tree, bool) { return json.Number("1"), true })
			}
		})
		out = append(out, doc)
	}
	return out
}

// leaves decides whether the n-th part lacks something: half of everything, in every
// second part a quarter.
func leaves(n int, what string) bool {
	h := fnv.New64a()
	fmt.Fprint(h, n, what)
	return (h.Sum64()>>32)%uint64(2+2*(n%2)) == 0
}

// entriesDepth is where the entries of spec's lists are.
const entriesDepth = 3

// crowded reports whether so many exceptions are about order that dropping them one by
// one is not worth while.
func (k *shrinker) crowded() bool {
	n := 0
	for _, e := range k.rules {
		if isAboutOrder(e) {
			n++
		}
	}
	return n > holdMin
}

func isAboutOrder(e strategy.Exception) bool { return isOrder(e) || isDelay(e) }

// orderless are the exceptions without those.
func (k *shrinker) orderless() []strategy.Exception {
	return slices.DeleteFunc(slices.Clone(k.rules), isAboutOrder)
}
