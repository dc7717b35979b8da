package scenarios

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// Event is one line of the timeline: a time and exactly one action.
type Event struct {
	At metav1.Duration
	// MayFail: the run is judged even if this action is without effect.
	MayFail bool
	// Action is written under the name of its kind: see Wire.
	Action cluster.Action
}

// Wire is the struct that an Event is read from and written to: at, mayFail, and a field for
// each kind of action.
func (Event) Wire() reflect.Type { return wire() }

var wire = sync.OnceValue(func() reflect.Type {
	fields := []reflect.StructField{
		{Name: "At", Type: reflect.TypeFor[metav1.Duration](), Tag: `json:"at" jsonschema:"required"`},
		{Name: "MayFail", Type: reflect.TypeFor[bool](), Tag: `json:"mayFail,omitempty"`},
	}
	for _, k := range action.All() {
		fields = append(fields, reflect.StructField{
			Name: strings.ToUpper(k.Name[:1]) + k.Name[1:], Type: reflect.TypeOf(k.New()),
			Tag: reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty"`, k.Name)),
		})
	}
	return reflect.StructOf(fields)
})

// firstAction is the index of the first action among the fields of Wire.
const firstAction = 2

// UnmarshalJSON reads an entry. It fails unless there is exactly one action.
func (e *Event) UnmarshalJSON(b []byte) error {
	w := reflect.New(wire())
	if err := json.Unmarshal(b, w.Interface()); err != nil {
		return err
	}
	w = w.Elem()
	*e = Event{At: w.Field(0).Interface().(metav1.Duration), MayFail: w.Field(1).Bool()}
	for i := firstAction; i < w.NumField(); i++ {
		if w.Field(i).IsNil() {
			continue
		}
		if e.Action != nil {
			return fmt.Errorf("more than one action; want exactly one of %s", strings.Join(action.Names(), ", "))
		}
		e.Action = w.Field(i).Interface().(cluster.Action)
	}
	if e.Action == nil {
		return fmt.Errorf("no action; want exactly one of %s", strings.Join(action.Names(), ", "))
	}
	return nil
}

// MarshalJSON writes an entry.
func (e Event) MarshalJSON() ([]byte, error) {
	w := reflect.New(wire()).Elem()
	w.Field(0).Set(reflect.ValueOf(e.At))
	w.Field(1).SetBool(e.MayFail)
	for i := firstAction; i < w.NumField(); i++ {
		if f := w.Field(i); e.Action != nil && f.Type() == reflect.TypeOf(e.Action) {
			f.Set(reflect.ValueOf(e.Action))
		}
	}
	return strict.Marshal(w.Interface())
}

// Kind is the name of the entry's action, as the file has it: "scale".
func (e Event) Kind() string { return action.Of(e.Action).Name }
