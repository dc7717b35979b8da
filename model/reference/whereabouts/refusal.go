package whereabouts

import "errors"

// The refusals of an operation. Its earlier effects stay.
var (
	// ErrExhausted: no address of a range is left.
	ErrExhausted = errors.New("no address is left")
	// ErrTime: the ADD's ten seconds are over. It has met too many addresses that
	// other pods have reserved, or its own one again and again.
	ErrTime = errors.New("out of time")
	// ErrCrash: the node has no slice, and the plugin dies of a nil dereference.
	ErrCrash = errors.New("the plugin crashes")
	// ErrMismatch: networks of one network_name have different ranges or slice
	// sizes, and the controller cuts no slices for any of them.
	ErrMismatch = errors.New("networks of the same network_name differ")
	// ErrNotModelled: upstream's behaviour for this input is not part of the reference; nothing was
	// predicted.
	ErrNotModelled = errors.New("not modelled")
)

// An ADD or DEL has ten seconds for its requests about Whereabouts' objects, from a client
// that sends a burst of ten and then five a second. A request that would have to wait longer
// than the remaining time fails immediately.
//
// Sources: pkg/storage/storage.go, RequestTimeout (v0.9.4); client-go/rest, DefaultQPS and
// DefaultBurst, which upstream does not change.
const requestsMax = 10 + 5*10

// requests counts what an operation has sent.
type requests int

// send reports whether n more requests can be made.
func (r *requests) send(n int) bool {
	*r += requests(n)
	return *r <= requestsMax
}
