package versions

import "context"

// Bisect looks for the version at which a case begins or ends to break, with as few of
// them as it can: the first and the last, and while these differ the one in the middle.
// ready makes a version's program before it runs first. The row has a cell for each
// version; those that did not have to run have no runs.
//
// It takes for granted that a case that breaks at both ends breaks between them: mends
// that were taken back are not seen (compare all versions).
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
