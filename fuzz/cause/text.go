package cause

import (
	"fmt"
	"strings"
)

// Lines tell the cause, a line for each link, the violation's own first: what happened,
// at which step of the run that shows it, and where in the address manager's code.
func (c *Cause) Lines() []string {
	out := []string{string(c.Trigger)}
	if unnotified := rules[c.Invariant].Write.Unnotified; unnotified != "" && unnotified == c.Code {
		return append(out, c.unsaid()...)
	}
	for i := range c.Links {
		out = append(out, c.Links[i].String())
	}
	return out
}

// unsaid tells first which messages failed, and then what they should have told of.
func (c *Cause) unsaid() (out []string) {
	var right []string
	for _, l := range c.Links {
		if l.Role != Wrote {
			out = append(out, l.String())
			continue
		}
		l.Role = untold
		right = append(right, l.String())
	}
	return append(out, right...)
}

var tells = map[Knowledge]string{
	Knew:     "; it had read what was there",
	Outdated: "; it had read it before somebody else wrote it",
	Unread:   "; it had not read what somebody else had written",
}

// String is one line: Tell, and where in the address manager's code that was.
func (l *Link) String() string {
	text := l.Tell()
	if l.Site.Known() {
		text += ", in " + l.Site.String()
	} else if len(l.Functions) > 0 {
		text += ", in " + strings.Join(l.Functions, ", called by ")
	}
	return text
}

// Tell says what happened, and at which step.
func (l *Link) Tell() string {
	text := strings.TrimSpace(strings.Join([]string{l.Process, l.Verb, l.Resource}, " "))
	switch l.Role {
	case Given:
		text = "it was so before the first step"
	case Wrote, untold:
		text += map[Role]string{Wrote: " broke it", untold: " did what it should, and nothing told of it"}[l.Role]
		if how := strings.TrimPrefix(strings.TrimSpace(l.Outcome+" "+string(l.Whose))+tells[l.Knew]+sights[l.Saw], "; "); how != "" {
			text += " (" + how + ")"
		}
	case Handed:
		text += " was the last message of the ADD that returned the address"
	case Failed:
		text += " had failed, and the ADD went on"
	case Freed:
		text += " had given it back (" + strings.TrimSpace("removed "+string(l.Whose)) + ")"
	case Ended:
		text = strings.TrimSuffix(l.Outcome+": "+text, ": ")
	case Passed:
		text = "a pass of " + l.Process + " " + l.Outcome + ", and left it so"
	case Refused:
		text += " was the last message of the call that failed"
	case Repeats:
		text += " is what it asks for again and again"
	case Crashed:
		text = strings.TrimSpace(l.Process + " panicked")
	case Read:
		text += " is what it had read for that; read after the change, it does not break (tried)"
	case Changed:
		text += " changed that since"
	case Fault:
		text += " met an injected fault: " + l.Outcome
	}
	if l.Step > 0 {
		text = fmt.Sprintf("step %d: %s", l.Step, text)
	}
	return text
}
