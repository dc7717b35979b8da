package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ipamsim/sim/cluster"
)

// action is the one action of a timeline entry.
func (e Event) action() (cluster.Action, error) {
	var found cluster.Action
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		if a, ok := v.Field(i).Interface().(cluster.Action); ok && !v.Field(i).IsNil() {
			if found != nil {
				return nil, fmt.Errorf("more than one action; want exactly one of %s", strings.Join(actionNames(), ", "))
			}
			found = a
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no action; want exactly one of %s", strings.Join(actionNames(), ", "))
	}
	return found, nil
}

func actionNames() []string {
	var out []string
	t := reflect.TypeFor[Event]()
	for i := range t.NumField() {
		if t.Field(i).Type.Implements(reflect.TypeFor[cluster.Action]()) {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
