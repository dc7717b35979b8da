package linear

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ipamsim/reports/visible"
)

// drawing is the data of porcupine's script.
type drawing struct {
	Partitions []struct {
		History               json.RawMessage
		PartialLinearizations [][]point
		Largest               map[int]int // by operation, the longest order that contains it
	}
	Annotations json.RawMessage
}

// point is one operation in an order.
type point struct {
	Index            int // of the operation in the partition's history
	StateDescription string
}

var errChanged = errors.New("linear: porcupine's page is not what it was")

// settle sorts the orders that porcupine found. Porcupine keeps them in a map, but the same history
// must result in the same page.
func settle(page []byte) ([]byte, error) {
	const before, after = "const data = ", "\n\n      render(data)"
	head, rest, ok := bytes.Cut(page, []byte(before))
	data, tail, closed := bytes.Cut(rest, []byte(after))
	if !ok || !closed {
		return nil, errChanged
	}
	var d drawing
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", errChanged, err)
	}
	for i := range d.Partitions {
		p := &d.Partitions[i]
		slices.SortFunc(p.PartialLinearizations, func(a, b []point) int {
			return cmp.Or(len(b)-len(a), slices.CompareFunc(a, b, func(x, y point) int { return x.Index - y.Index }))
		})
		p.Largest = map[int]int{}
		for n, order := range p.PartialLinearizations {
			for _, x := range order {
				if _, longer := p.Largest[x.Index]; !longer {
					p.Largest[x.Index] = n
				}
			}
		}
	}
	data, err := json.Marshal(d)
	return slices.Concat(head, []byte(before), visible.JSON(data), []byte(after), tail), err
}
