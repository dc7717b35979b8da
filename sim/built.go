package sim

import "ipamsim/sim/hermetic"

// BuiltWith records what the calling process's program is built with, for libraries that
// this program links once for all processes. On the stock runtime it does nothing.
func BuiltWith(what string) {
	if p := hermetic.Current(); p != nil {
		p.Built = what
	}
}

// Built is what the calling process's program is built with; "": nothing was recorded.
func Built() string {
	if p := hermetic.Current(); p != nil {
		return p.Built
	}
	return ""
}
