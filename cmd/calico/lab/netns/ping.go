package netns

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// Echo is what became of a ping.
type Echo int

// What became of it.
const (
	Answered    Echo = iota
	Lost             // silence
	Unreachable      // a router or the host reported that there is no route
	Looped           // it went round until it died
	Unclear          // Ping said something else
)

var echoNames = [...]string{"ok", "lost", "unreachable", "loop", "unclear"}

// String is a word.
func (e Echo) String() string { return echoNames[e] }

// pings of one attempt; one answer is enough: routes do not change between them.
const pingCount = "2"

// Ping sends echo requests from the namespace and returns the result.
func (s *Space) Ping(ctx context.Context, ping, to string, patience time.Duration) Echo {
	wait := strings.TrimSuffix(patience.Truncate(time.Second).String(), "s")
	out, err := s.output(exec.CommandContext(ctx, ping, "-n", "-c", pingCount, "-i", "0.2", "-W", wait, to))
	return classify(out, err == nil)
}

// classify reads the output of iputils' ping; ok is that it ended with 0, which
// means at least one answer.
func classify(out string, ok bool) Echo {
	has := func(s string) bool { return strings.Contains(out, s) }
	switch {
	case ok:
		return Answered
	case has("Time to live exceeded"), has("Hop limit"):
		return Looped
	// The lookup on the sending host itself: no route, or one of type unreachable.
	case has("Network is unreachable"), has("No route"), has("Address unreachable"), has("Destination Net Unreachable"), has("Destination Host Unreachable"), has("No route to host"):
		return Unreachable
	// The lookup on the sending host itself found a blackhole.
	case has("Invalid argument"), has("100% packet loss"):
		return Lost
	}
	return Unclear
}
