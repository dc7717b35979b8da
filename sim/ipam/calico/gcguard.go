package calico

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// crashes takes what upstream's goroutines panicked with. Such a panic is the end
// of the simulated process and must not be that of the simulator.
type crashes chan any

// errExited is a goroutine that ended by log.Fatal, upstream's way to exit.
var errExited = errors.New("the process has exited: log.Fatal")

// watch runs f on behalf of the process.
func (c crashes) watch(f func()) {
	returned := false
	defer func() {
		v := recover()
		if v == nil && !returned {
			v = errExited
		}
		if v != nil {
			select {
			case c <- v:
			default: // it has crashed already
			}
		}
	}()
	f()
	returned = true
}

// guardedInformer is an informer whose handlers' panics are the process's.
type guardedInformer struct {
	cache.SharedIndexInformer
	crashed crashes
	deleted func(*corev1.Node) // called after the node controller's own handler, as with DeleteNodes; or nil
}

// AddEventHandler adds upstream's handler with a guard around it.
func (i *guardedInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	f, ok := h.(cache.ResourceEventHandlerFuncs)
	if ok && f.AddFunc == nil && i.deleted != nil { // the one of NewNodeController: it hears of deletions only
		own := f.DeleteFunc
		f.DeleteFunc = func(obj any) { own(obj); i.deleted(obj.(*corev1.Node)) }
		h = f
	}
	return i.SharedIndexInformer.AddEventHandler(guardedHandler{h, i.crashed})
}

type guardedHandler struct {
	upstream cache.ResourceEventHandler
	crashed  crashes
}

// OnAdd calls upstream's.
func (h guardedHandler) OnAdd(obj any, initial bool) {
	h.crashed.watch(func() { h.upstream.OnAdd(obj, initial) })
}

// OnUpdate calls upstream's.
func (h guardedHandler) OnUpdate(old, obj any) {
	h.crashed.watch(func() { h.upstream.OnUpdate(old, obj) })
}

// OnDelete calls upstream's.
func (h guardedHandler) OnDelete(obj any) {
	h.crashed.watch(func() { h.upstream.OnDelete(obj) })
}
