package versions

import "context"

// Bisect finds the version at which a case begins or ceases to break, with as few versions as
// possible: it runs the first and the last and, while these differ, the one in the middle.
// ready builds a version's program before its first run. The row has a cell for each version;
// versions that did not have to run have no runs.
//
// Bisect assumes that a case that breaks at both ends breaks everywhere between them. A fix that
// was reverted is not found: compare all versions for that.
func (c *Comparison) Bisect(ctx context.Context, of *Case, ready func(Version) error) (Row, error) {
	r := Row{of, make([]Count, len(c.Versions))}
	run := func(i int) error {
		if err := ready(c.Versions[i]); err != nil {
			return err
		}
		n := &r.Cells[i]
		for from, to := range c.batches {
			if *n = n.Add(c.count(ctx, i, of, from, to)); n.Err != "" || n.Lacks != "" || n.Broken >= enough {
				break
			}
		}
		return nil
	}
	low, high := 0, len(c.Versions)-1
	for _, i := range []int{low, high} {
		if err := run(i); err != nil {
			return r, err
		}
	}
	for high-low > 1 {
		marks := r.Marks()
		if min(marks[low], marks[high]) < Holds || marks[low] == marks[high] {
			break
		}
		middle := (low + high) / 2
		if err := run(middle); err != nil {
			return r, err
		}
		switch r.Marks()[middle] {
		case marks[low]:
			low = middle
		case marks[high]:
			high = middle
		default:
			return r, nil
		}
	}
	return r, nil
}
