package prose

import (
	"strconv"

	"ipamsim/model/act"
	"ipamsim/reports/layout"
)

// file tells of a system call about a file or a directory.
func file(a *act.Act) string {
	name := string(a.Thing.Kind) + " " + a.Thing.Name
	switch a.Verb {
	case act.Stat:
		return tried("finds "+name, "looks for "+name, name, a)
	case act.Read, act.List:
		return tried("reads "+name+content(a), "reads "+name, name, a)
	case act.Create:
		return "creates " + name + failure(a)
	case act.Update:
		return "writes " + name + content(a) + failure(a)
	case act.Delete:
		return "removes " + name + failure(a)
	case act.Rename:
		return "renames " + name + " to " + names(a.Thing.Parts)[0] + failure(a)
	case act.Sync:
		return "syncs " + name + failure(a)
	case act.Lock:
		if a.Outcome == act.Conflict {
			return "waits for the lock of " + name
		}
		return "locks " + name + failure(a)
	case act.Unlock:
		return "unlocks " + name + failure(a)
	}
	return ""
}

// tried tells of what only looks.
func tried(done, failed, name string, a *act.Act) string {
	switch a.Outcome {
	case act.Done:
		return done
	case act.Absent:
		return "sees that there is no " + name
	}
	return failed + failure(a)
}

// content is what was read or written: its beginning, or how much it is.
func content(a *act.Act) string {
	t := &a.Thing
	switch part := t.Part(act.Text); {
	case a.Outcome != act.Done:
		return ""
	case part != nil && len(part.Name) == t.Size:
		return ": " + strconv.Quote(part.Name)
	case t.Kind == act.Directory:
		return ": " + layout.Plural(t.Size, "name")
	}
	return ": " + layout.Plural(t.Size, "byte")
}

// failure is the operating system's own words.
func failure(a *act.Act) string {
	switch a.Outcome {
	case act.Exists:
		return ": it is there already"
	case act.Absent:
		return ": it is not there"
	case act.Failed:
		return ": " + a.Error
	}
	return ""
}

// service tells of a request to a daemon of the node, and of its answer.
func service(a *act.Act) string {
	if a.Verb == act.Hear {
		return "is answered by " + a.Thing.State + ", " + a.Thing.Name + failure(a)
	}
	return "asks " + a.Thing.State + " for " + a.Thing.Name
}

// cloud tells of a call to a provider's API.
func cloud(a *act.Act) string {
	text := "calls " + a.Thing.State + " " + a.Thing.Name
	if len(a.Gives) > 0 {
		text += ", which gives " + some(a.Gives, title)
	}
	if len(a.Takes) > 0 {
		text += ", which takes " + some(a.Takes, title)
	}
	return text + failure(a)
}

func title(t *act.Thing) string { return t.Name }
