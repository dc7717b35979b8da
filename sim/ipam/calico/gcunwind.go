package calico

import (
	"reflect"
	"unsafe"
)

// unwind ends the goroutines of a dead process. A real one needs none of it: its
// goroutines vanish with it. Here those that wait for each other, or for a
// consumer that has stopped, would outlive the run and its bubble.
//
// The order matters: upstream's senders end first (informers, then the data
// feed, which sends a deletion for everything it knows), while everything they
// could send to is emptied; the queue that only the end of which ends its
// consumer is closed last, because a send on a closed channel panics.
func (r *runningControllers) unwind() {
	done := make(chan struct{})
	defer close(done)
	for _, name := range []string{"ipamCtrl", "hostEndpointController", "nodeLabelController"} {
		drainQueues(hidden(r.nodes, name), done)
	}
	drainQueues(reflect.ValueOf(r.deleter), done)
	close(r.stop)
	for _, ended := range r.informers {
		<-ended
	}
	hidden(r.feed, "syncer").Interface().(interface{ Stop() }).Stop()
	if r.deleter != nil {
		close(hidden(r.deleter, "syncChan").Interface().(chan struct{}))
	}
}

// drainQueues receives from every channel of a struct until done, so that nobody
// waits to send. It does nothing with a nil pointer or interface.
func drainQueues(p reflect.Value, done chan struct{}) {
	if !p.IsValid() || p.IsNil() {
		return
	}
	for i := range p.Elem().NumField() {
		f := exposed(p.Elem().Field(i))
		if f.Kind() == reflect.Chan && f.Type().ChanDir()&reflect.RecvDir != 0 {
			go drain(f, done)
		}
	}
}

func drain(queue reflect.Value, done chan struct{}) {
	from := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: queue}, {Dir: reflect.SelectRecv, Chan: reflect.ValueOf(done)}}
	for {
		if i, _, ok := reflect.Select(from); i == 1 || !ok {
			return
		}
	}
}

// hidden is an unexported field of the struct that p points to.
func hidden(p any, field string) reflect.Value {
	return exposed(reflect.ValueOf(p).Elem().FieldByName(field))
}

// exposed lifts the ban on an unexported field of an addressable struct.
func exposed(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
