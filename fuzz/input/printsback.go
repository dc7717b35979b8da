package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// PrintsBack checks a property of the loader: for any text it returns a scenario that is loaded unchanged
// after it was printed, or an error of one line.
func PrintsBack(managers scenarios.Managers, text []byte) error {
	s, err := managers.Parse("fuzz.yaml", text)
	if err != nil {
		var e *strict.Error
		if !errors.As(err, &e) || e.Problem == "" || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 2000 {
			return fmt.Errorf("not one line: %T %q", err, err)
		}
		return nil
	}
	printed, err := s.YAML()
	if err != nil {
		return err
	}
	again, err := managers.Parse("fuzz.yaml", printed)
	switch {
	case err != nil:
		return fmt.Errorf("printed, it does not load: %v\n%s", err, printed)
	case !same(s, again):
		return fmt.Errorf("it changes when printed:\n%s", printed)
	}
	return nil
}

func same(a, b *scenarios.Scenario) bool {
	x, errX := json.Marshal(a.Doc)
	y, errY := json.Marshal(b.Doc)
	return errX == nil && errY == nil && string(x) == string(y) &&
		reflect.DeepEqual(a.Objects, b.Objects) && reflect.DeepEqual(a.Networks, b.Networks)
}
