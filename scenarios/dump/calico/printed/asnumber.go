package printed

import (
	"fmt"
	"strconv"
	"strings"

	"ipamsim/scenarios/strict"
)

// ASNumber is that of a router. It reads 64512, "64512" and "1.10".
type ASNumber uint32

// UnmarshalJSON implements json.Unmarshaler.
func (a *ASNumber) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "" || s == "null" {
		return nil
	}
	high, low, dotted := strings.Cut(s, ".")
	if !dotted {
		high, low = "0", s
	}
	bits := 32
	if dotted {
		bits = 16
	}
	h, err := strconv.ParseUint(high, 10, 16)
	l, err2 := strconv.ParseUint(low, 10, bits)
	if err != nil || err2 != nil {
		return fmt.Errorf("asNumber: %s is none", strict.Quote(s))
	}
	*a = ASNumber(h<<16 | l)
	return nil
}
