package prose

import (
	"strconv"

	"ipamsim/model/act"
	"ipamsim/reports/layout"
)

// file describes a system call on a file or a directory.
func file(a *act.Act) string {
	name := string(a.Thing.Kind) + " " + a.Thing.Name
	switch a.Verb {
	case act.Stat:
		return tried("finds "+name, "checks for "+name, name, a)
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

// tried describes a system call that changes nothing: done if it succeeded, failed if not.
func tried(done, failed, name string, a *act.Act) string {
	switch a.Outcome {
	case act.Done:
		return done
	case act.Absent:
		return "finds no " + name
	}
	return failed + failure(a)
}

// content returns the text that was read or written, or its size.
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

// failure describes why a system call failed.
func failure(a *act.Act) string {
	switch a.Outcome {
	case act.Exists:
		return ": it already exists"
	case act.Absent:
		return ": it does not exist"
	case act.Failed:
		return ": " + a.Error
	}
	return ""
}

// service describes a request to a daemon on the node, or its reply.
func service(a *act.Act) string {
	if a.Verb == act.Hear {
		return "receives the reply of " + a.Thing.State + " for " + a.Thing.Name + failure(a)
	}
	return "asks " + a.Thing.State + " for " + a.Thing.Name
}

// cloud describes a call to a provider's API.
func cloud(a *act.Act) string {
	text := "calls " + a.Thing.State + " " + a.Thing.Name
	if len(a.Gives) > 0 {
		text += ", which assigns " + some(a.Gives, title)
	}
	if len(a.Takes) > 0 {
		text += ", which releases " + some(a.Takes, title)
	}
	return text + failure(a)
}

func title(t *act.Thing) string { return t.Name }
