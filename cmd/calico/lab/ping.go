package main

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// echo is what became of a ping.
type echo int

const (
	answered    echo = iota
	lost             // silence
	unreachable      // somebody said that there is no way
	looped           // it went round until it died
	unclear          // ping said something else
)

var echoNames = [...]string{"ok", "lost", "unreachable", "loop", "unclear"}

func (e echo) String() string { return echoNames[e] }

// pings of one attempt; one answer is enough: routes do not change between them.
const pingCount = "2"

// ping sends echo requests from the namespace and says what came back.
func (s *space) ping(ctx context.Context, ping, to string, patience time.Duration) echo {
	wait := strings.TrimSuffix(patience.Truncate(time.Second).String(), "s")
	out, err := s.output(exec.CommandContext(ctx, ping, "-n", "-c", pingCount, "-i", "0.2", "-W", wait, to))
	return classify(out, err == nil)
}

// classify reads the output of iputils' ping; ok is that it ended with 0, which
// means at least one answer.
func classify(out string, ok bool) echo {
	has := func(s string) bool { return strings.Contains(out, s) }
	switch {
	case ok:
		return answered
	case has("Time to live exceeded"), has("Hop limit"):
		return looped
	// The look-up of the sending host itself: no route, or one of type unreachable.
	case has("Network is unreachable"), has("No route"), has("Address unreachable"), has("Destination Net Unreachable"), has("Destination Host Unreachable"), has("No route to host"):
		return unreachable
	// The look-up of the sending host itself met a blackhole.
	case has("Invalid argument"), has("100% packet loss"):
		return lost
	}
	return unclear
}
