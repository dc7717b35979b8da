// Package way names the ways in which a message can fail, for scenarios, reports and the adapters
// that offer them. To the kernel a way is a number: the Level of a sim.FailBefore or a
// sim.LoseReply.
//
// The table in sim/kube/answer defines what a client of an API server or of etcd receives. sim/disk
// has the ways of system calls; sim/cloud and sim/local use the applicable ones.
package way

import (
	"fmt"
	"slices"

	"ipamsim/sim"
)

// Way is one way in which a message can fail.
type Way int

// The ways. Only the names are written to files, so the numbers may change.
const (
	Refused        Way = iota // no connection is made
	Throttled                 // 429: the server has too much to do
	ShuttingDown              // 429: the server is about to stop
	Unavailable               // 503: the server has stopped to accept requests
	Timeout                   // 504: the server gave up
	EtcdTimeout               // etcd gave up a write
	Reset                     // this request's connection is reset
	ConnectionLost            // the connection ends, with all that goes over it
	Expired                   // 410: the history from which to watch is gone
	Internal                  // 500 of a provider
	IOError                   // EIO
	DiskFull                  // ENOSPC
)

var names = [...]string{
	"refused", "throttled", "shutting-down", "unavailable", "timeout", "etcd-timeout",
	"reset", "connection-lost", "expired", "internal", "io-error", "disk-full",
}

func (w Way) String() string {
	if w < 0 || int(w) >= len(names) {
		return fmt.Sprintf("way-%d", int(w))
	}
	return names[w]
}

// Names are the names of all ways.
func Names() []string { return slices.Sorted(slices.Values(names[:])) }

// Parse is the inverse of Way.String.
func Parse(name string) (Way, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Way(i), nil
	}
	return 0, fmt.Errorf("unknown way %q, want one of %v", name, Names())
}

// Of is a set of ways.
func Of(ways ...Way) (s sim.Ways) {
	for _, w := range ways {
		s |= sim.Way(int(w))
	}
	return s
}

// Named is the way of a choice, "" if its outcome has no ways or the message only one that
// says nothing.
func Named(c *sim.Choice) string {
	if c.Op.Ways(c.Outcome) == 0 {
		return ""
	}
	return Way(c.Level).String()
}
