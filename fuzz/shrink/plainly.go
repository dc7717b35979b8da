package shrink

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"ipamsim/fuzz/shrink/internal/tree"
	"ipamsim/sim/strategy"
)

// plainly tries parts of the scenario in the default order, without the exceptions about order. If a
// random walk led to the failure, there are hundreds of these exceptions. They depend on the order
// of all processes: without one document or pod, hardly any has the same effect, so nothing can be
// removed from such a scenario. But a part of it often fails in the default order as well, and then no
// exception is needed.
//
// The parts depend only on the scenario.
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

// partsMax parts are about as much work as hold.
const partsMax = 24

// part returns the n-th part of the documents: without some manifests, entries of the lists in the
// Scenario document, and replicas beyond the first.
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

// leaves reports whether the n-th part lacks something: half of everything, in every second part a
// quarter.
func leaves(n int, what string) bool {
	h := fnv.New64a()
	fmt.Fprint(h, n, what)
	return (h.Sum64()>>32)%uint64(2+2*(n%2)) == 0
}

// entriesDepth is the depth of the entries of spec's lists.
const entriesDepth = 3

// crowded reports whether there are too many exceptions about order to remove them one by one.
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

// orderless returns the exceptions that are not about order.
func (k *shrinker) orderless() []strategy.Exception {
	return slices.DeleteFunc(slices.Clone(k.rules), isAboutOrder)
}
