package sim

import "ipamsim/sim/hermetic"

// BuiltWith records a version that the calling process's program is built with, for libraries that
// this program links only once for all processes. On the stock runtime it does nothing.
func BuiltWith(what string) {
	if p := hermetic.Current(); p != nil {
		p.Built = what
	}
}

// Built is the version that BuiltWith recorded for the calling process; "" if there is none.
func Built() string {
	if p := hermetic.Current(); p != nil {
		return p.Built
	}
	return ""
}
