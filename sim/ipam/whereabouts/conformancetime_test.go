package whereabouts_test

import (
	"fmt"
	"net/netip"
	"testing"
)

// The limit of an ADD's ten seconds, which a random history seldom reaches: the number of addresses
// reserved by others that it can skip, with an existing pool, with one that it has to create first,
// in the second range, and for an address of its own.
func TestConformanceTime(t *testing.T) {
	wide := rangeOf{Prefix: netip.MustParsePrefix("10.0.0.0/23")}
	six := rangeOf{Prefix: netip.MustParsePrefix("fd00::/64")}
	for reserved := 24; reserved <= 32; reserved++ {
		hold := operation{Verb: reserve, Which: reserved}
		for name, h := range map[string]history{
			"a pool that is there": {[]configuration{{Ranges: []rangeOf{wide}}}, []operation{{Verb: add}, hold, {Verb: add, Pod: 1}, {Verb: add, Pod: 1}}},
			"a new pool":           {[]configuration{{Ranges: []rangeOf{wide}}}, []operation{hold, {Verb: add, Pod: 1}, {Verb: add, Pod: 1}}},
			"two ranges":           {[]configuration{{Ranges: []rangeOf{wide, six}}}, []operation{hold, {Verb: add}, {Verb: add}, {Verb: del}}},
			"one range twice":      {[]configuration{{Ranges: []rangeOf{wide, wide}}}, []operation{hold, {Verb: add}, {Verb: add}}},
			"the own address": {[]configuration{{Ranges: []rangeOf{{Prefix: wide.Prefix, Exclude: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/30")}}}}},
				[]operation{{Verb: add}, {Verb: unreserve}, hold, {Verb: add}, {Verb: add, Pod: 1}}},
		} {
			t.Run(fmt.Sprint(reserved, " reserved, ", name), func(t *testing.T) {
				if diff := compare(t, h); diff != "" {
					t.Errorf("%s\n%s", diff, h)
				}
			})
		}
	}
}
