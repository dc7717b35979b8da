package chart

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// Owners shows the owner of each block over time: time to the right, blocks from the top. An
// owner has a colour with a pattern, and its name where there is room. A block without an owner is
// blank.
type Owners struct {
	Title  string
	X      Axis      // time
	Times  []float64 // of the samples, ascending
	Blocks []string  // in the order of prefixes; at most BlocksMax
	Nodes  []string  // names of the owners
	// Owner by sample and block: 0 for none, otherwise the index in Nodes plus 1.
	Owner [][]int32
	// Marks by sample and block; nil: none.
	Marks [][]Mark
}

// Mark is an additional state of a block.
type Mark uint8

// The marks of a block.
const (
	Unmarked Mark = iota
	Empty         // it has an owner, and none of its addresses is in use: faint
	Borrowed      // another node uses an address of it: dotted
)

func (m Mark) String() string { return [...]string{"", "empty", "borrowed"}[m] }

// Bounds of a picture.
const (
	BlocksMax  = 256
	samplesMax = 1000
)

// ownersDistinct is the number of owners with a distinct colour and pattern. Further owners reuse
// them and differ by their names.
const ownersDistinct = 12

func (o *Owners) heading() string { return o.Title }

func (o *Owners) check() error {
	if len(o.Blocks) == 0 || len(o.Blocks) > BlocksMax || len(o.Times) == 0 || len(o.Times) > samplesMax {
		return fmt.Errorf("%d blocks at %d times, want 1 to %d at 1 to %d", len(o.Blocks), len(o.Times), BlocksMax, samplesMax)
	}
	if len(o.Owner) != len(o.Times) || o.Marks != nil && len(o.Marks) != len(o.Times) {
		return fmt.Errorf("%d times, %d samples of owners, %d of marks", len(o.Times), len(o.Owner), len(o.Marks))
	}
	for n, at := range o.Times {
		if err := finite(at); err != nil {
			return fmt.Errorf("time %d: %w", n, err)
		}
		if n > 0 && at <= o.Times[n-1] {
			return fmt.Errorf("time %d is not after the one before it", n)
		}
		if len(o.Owner[n]) != len(o.Blocks) || o.Marks != nil && len(o.Marks[n]) != len(o.Blocks) {
			return fmt.Errorf("sample %d does not have a value for each of %d blocks", n, len(o.Blocks))
		}
		for b, who := range o.Owner[n] {
			if who < 0 || int(who) > len(o.Nodes) {
				return fmt.Errorf("sample %d: owner %d of %d", n, who, len(o.Nodes))
			}
			if o.Marks != nil && o.Marks[n][b] > Borrowed {
				return fmt.Errorf("sample %d: no mark is %d", n, o.Marks[n][b])
			}
		}
	}
	return nil
}

// run is one block for as long as nothing changes about it.
type run struct {
	block    int
	owner    int32
	mark     Mark
	from, to float64
}

// runs of all blocks, in their order and then in time. A sample stands for the time
// around it, up to halfway to its neighbours.
func (o *Owners) runs() []run {
	var out []run
	for b := range o.Blocks {
		for n := range o.Times {
			r := run{block: b, owner: o.Owner[n][b], from: o.edge(n), to: o.edge(n + 1)}
			if o.Marks != nil {
				r.mark = o.Marks[n][b]
			}
			if n > 0 && out[len(out)-1].owner == r.owner && out[len(out)-1].mark == r.mark {
				out[len(out)-1].to = r.to
				continue
			}
			out = append(out, r)
		}
	}
	return out
}

// edge between the sample before n and n.
func (o *Owners) edge(n int) float64 {
	switch last := len(o.Times) - 1; {
	case n == 0:
		return o.Times[0]
	case n <= last:
		return (o.Times[n-1] + o.Times[n]) / 2
	case last == 0:
		return o.Times[0] + 1
	}
	return o.Times[len(o.Times)-1]
}

func (o *Owners) table() drawing {
	x := o.X.column("time")
	t := drawing{Kind: "owners", Columns: []string{"block", "owner", "mark", "from " + x, "to " + x}}
	for _, r := range o.runs() {
		row := []any{o.Blocks[r.block], nil, nil, r.from, r.to}
		if r.owner > 0 {
			row[1] = o.Nodes[r.owner-1]
		}
		if r.mark != Unmarked {
			row[2] = r.mark.String()
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (o *Owners) height() vg.Length { return 36 + vg.Length(len(o.Blocks))*o.rowHigh() }

func (o *Owners) rowHigh() vg.Length { return min(18, max(2.5, 560/vg.Length(len(o.Blocks)))) }
