package cause

import (
	"fmt"
	"strings"
)

// Lines describes the cause, one line for each link, beginning with the violation's own: what
// happened, at which step, and where in the address manager's code.
func (c *Cause) Lines() []string {
	out := []string{string(c.Trigger)}
	if unnotified := rules[c.Invariant].Write.Unnotified; unnotified != "" && unnotified == c.Code {
		return append(out, c.failedFirst()...)
	}
	for i := range c.Links {
		out = append(out, c.Links[i].String())
	}
	return out
}

// failedFirst lists the messages that failed, then the writes that they should have announced.
func (c *Cause) failedFirst() (out []string) {
	var right []string
	for _, l := range c.Links {
		if l.Role != Wrote {
			out = append(out, l.String())
			continue
		}
		l.Role = unannounced
		right = append(right, l.String())
	}
	return append(out, right...)
}

var knowledgeTexts = map[Knowledge]string{
	Knew:     "; it had read the current state",
	Outdated: "; it had read the state before another process changed it",
	Unread:   "; it had not read what another process had written",
}

// String returns Describe and the place in the address manager's code, on one line.
func (l *Link) String() string {
	text := l.Describe()
	if l.Site.Known() {
		text += ", in " + l.Site.String()
	} else if len(l.Functions) > 0 {
		text += ", in " + strings.Join(l.Functions, ", called by ")
	}
	return text
}

// Describe returns what happened, and at which step.
func (l *Link) Describe() string {
	text := strings.TrimSpace(strings.Join([]string{l.Process, l.Verb, l.Resource}, " "))
	switch l.Role {
	case Given:
		text = "the state existed before the first step"
	case Wrote, unannounced:
		text += map[Role]string{Wrote: " broke it", unannounced: " was correct, but no message announced it"}[l.Role]
		if how := strings.TrimPrefix(strings.TrimSpace(l.Outcome+" "+string(l.Whose))+knowledgeTexts[l.Knew]+sawTexts[l.Saw], "; "); how != "" {
			text += " (" + how + ")"
		}
	case Handed:
		text += " was the last message of the ADD that returned the address"
	case Failed:
		text += " failed, but the ADD went on"
	case Freed:
		text += " had released it (" + strings.TrimSpace("removed "+string(l.Whose)) + ")"
	case Ended:
		text = strings.TrimSuffix(l.Outcome+": "+text, ": ")
	case Passed:
		text = "a pass of " + l.Process + " " + l.Outcome + ", but did not fix it"
	case Refused:
		text += " was the last message of the call that failed"
	case Repeats:
		text += " is the request that it repeats"
	case Crashed:
		text = strings.TrimSpace(l.Process + " panicked")
	case Read:
		text += " was read for this; if the read comes after the change, nothing breaks (tried)"
	case Changed:
		text += " changed it after that read"
	case Fault:
		text += " met an injected fault: " + l.Outcome
	}
	if l.Step > 0 {
		text = fmt.Sprintf("step %d: %s", l.Step, text)
	}
	return text
}
