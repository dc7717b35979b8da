package baseline

import (
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/sarifs"
)

// modulesOf are the modules in which calls of an outcome were, as bases of URIs: by
// "module@version", where that can be read, if it is certain.
func modulesOf(o *Outcome) map[string]sarif.ArtifactLocation {
	out := map[string]sarif.ArtifactLocation{}
	for i := range o.Rows {
		for j := range o.Rows[i].Changes {
			for _, call := range o.Rows[i].Changes[j].Calls {
				name := reports.Clean(call.Site.Module)
				if name == "" {
					continue
				}
				at := sarif.ArtifactLocation{Index: -1, Description: sarif.NewTextMessage("the source of " + name)}
				if base := call.Site.Base(); base != "" {
					at.URI = &base
				}
				out[name] = at
			}
		}
	}
	return out
}

// flow is the way to a violation through the address manager's own code, nil if nothing
// is known of it. It is one thread flow, though several processes take part: a schedule
// is one sequence of messages.
func flow(calls []Call) *sarif.CodeFlow {
	thread := sarif.NewThreadFlow()
	for i := range calls {
		c := &calls[i]
		if len(c.Site.Frames) == 0 {
			continue
		}
		at := frameAt(c.Site, c.Site.Frames[0]).WithMessage(sarifs.Message(reports.Clean(c.Text + ", in " + c.Site.String())))
		l := sarif.NewThreadFlowLocation().WithLocation(at).WithExecutionOrder(max(0, c.Step))
		if c.Site.Module != "" {
			l.WithModule(reports.Clean(c.Site.Module))
		}
		if caller, ok := c.Site.Caller(); ok {
			l.WithStack(stackOf(c.Site, c.Site.Frames[0], caller))
		}
		thread.AddLocation(l)
	}
	if len(thread.Locations) == 0 {
		return nil
	}
	return sarif.NewCodeFlow().AddThreadFlow(thread)
}

// stackOf are frames of a call, the innermost first.
func stackOf(site model.CallSite, frames ...model.Frame) *sarif.Stack {
	out := sarif.NewStack()
	for _, f := range frames {
		frame := sarif.NewStackFrame().WithLocation(frameAt(site, f))
		if site.Module != "" {
			frame.WithModule(reports.Clean(site.Module))
		}
		out.AddFrame(frame)
	}
	return out
}

// frameAt returns the location of a frame. A panic's stack does not contain the module, and a
// relative file name alone would point into the reader's repository, so it has no file.
func frameAt(site model.CallSite, f model.Frame) *sarif.Location {
	out := sarif.NewLocation()
	out.AddLogicalLocation(sarif.NewLogicalLocation().WithName(reports.Clean(f.Name())).WithFullyQualifiedName(reports.Clean(f.Function)).WithKind("function"))
	if f.File != "" && site.Module != "" {
		out.WithPhysicalLocation(sarifs.Physical(reports.Clean(f.File), reports.Clean(site.Module), f.Line))
	}
	return out
}
