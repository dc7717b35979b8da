package model

import (
	"path"
	"strconv"
	"strings"
)

// CallSite is where in an address manager's own code something happened: which line
// read, which wrote. The zero value is a place that is not known, or not upstream's.
type CallSite struct {
	// Module is the module of the code, "module@version"; for a fork, its replacement, as in
	// Adapter.Upstream.
	Module string `json:"module,omitempty"`
	// Frames are upstream's functions on the stack, innermost first.
	Frames []Frame `json:"frames,omitempty"`
	// Informer: a goroutine of an informer of client-go sent the message. Upstream only started the
	// informer. Frames are then the functions of upstream that the informer calls, or empty.
	Informer bool `json:"informer,omitempty"`
	// Root is the folder that Module lay in when this program was built, below which
	// Frames' files are; "" if that is not known. It is of this machine, and in no record.
	Root string `json:"-"`
}

// Frame is one function on a stack, and where in it.
type Frame struct {
	Function string `json:"function"` // with its import path
	File     string `json:"file"`     // path in the module, or as in the stack
	Line     int    `json:"line"`
}

// Known reports whether the call site is known.
func (c CallSite) Known() bool { return len(c.Frames) > 0 || c.Informer }

// Caller is the caller of the first of Frames: the next function of another package, which shows
// the purpose, or the next function if there is none.
func (c CallSite) Caller() (f Frame, ok bool) {
	if len(c.Frames) < 2 {
		return f, false
	}
	for _, f := range c.Frames[1:] {
		if f.Package() != c.Frames[0].Package() {
			return f, true
		}
	}
	return c.Frames[1], true
}

// Entry is the function by which the package of the first of Frames was entered; the zero
// Frame if there are none.
func (c CallSite) Entry() (f Frame) {
	for i := range c.Frames {
		if c.Frames[i].Package() != c.Frames[0].Package() {
			break
		}
		f = c.Frames[i]
	}
	return f
}

// String is for people: "kubernetes.(*KubernetesIPPool).Update (ipam.go:231), called by
// reconciler.ReconcileLooper.ReconcileIPPools (iploop.go:200)"; "" if it is not known.
func (c CallSite) String() string {
	var text string
	if len(c.Frames) > 0 {
		text = c.Frames[0].String()
	}
	if by, ok := c.Caller(); ok {
		text += ", called by " + by.String()
	}
	if c.Informer {
		text = strings.TrimSuffix("an informer of client-go, "+text, ", ")
	}
	return text
}

// String is the function without its import path, and the last element of the file's path.
func (f Frame) String() string {
	return path.Base(f.Function) + " (" + path.Base(f.File) + ":" + strconv.Itoa(f.Line) + ")"
}

// Name is the function without the import path and the name of its package:
// "(*KubernetesIPPool).Update".
func (f Frame) Name() string {
	_, name, _ := strings.Cut(path.Base(f.Function), ".")
	return name
}

// Package is the import path of the function.
func (f Frame) Package() string {
	dir, last := path.Split(f.Function)
	name, _, _ := strings.Cut(last, ".")
	return dir + name
}
