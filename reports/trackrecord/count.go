package trackrecord

import "fmt"

// Count is the track record in numbers of rows.
type Count struct {
	Rows      int
	Known     int // with a report or a document
	Unknown   int // searched, none found
	Fixed     int // by upstream, released or not
	InPart    int // fixed in part
	Confirmed int // of the fixed ones, shown to end with the fix
}

// CountOf counts the rows of the components.
func CountOf(all []Component) (n Count) {
	for _, c := range all {
		for _, r := range c.Rows {
			n.Rows++
			if r.Known != "" {
				n.Known++
			} else {
				n.Unknown++
			}
			switch {
			case r.Fixed.Part != "":
				n.InPart++
			case r.Fixed.Release != "":
				n.Fixed++
			}
			if r.Confirmed != nil {
				n.Confirmed++
			}
		}
	}
	return n
}

// Sentence states the numbers.
func (n Count) Sentence() string {
	return fmt.Sprintf("%d rows. %d are known from a report or a document; for %d a search found none. "+
		"Upstream has since fixed %d, and %d in part; for %d of these, runs with the fixed code confirm it.",
		n.Rows, n.Known, n.Unknown, n.Fixed, n.InPart, n.Confirmed)
}
