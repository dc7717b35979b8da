package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ipamsim/cmd/cli/planning"
)

// valueWanted describes the values of a flag, by pflag's name of its type. The command validates
// strings.
var valueWanted = map[string]string{
	"bool":     "true or false",
	"duration": "a time with its unit, e.g. 90s or 5m",
	"part":     fmt.Sprintf("a part of the time, %g to %g", planning.LeastPart, planning.MostPart),
	"int":      "a whole number, at most " + strconv.Itoa(math.MaxInt),
	"uint64":   "a whole number, 0 to " + strconv.FormatUint(math.MaxUint64, 10),
}

// flagError rewrites an error of the command line: the flag, its value and the allowed values. pflag's
// own error names the Go function that failed.
func flagError(_ *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return err
	}
	f := value.GetFlag()
	want, ok := valueWanted[f.Value.Type()]
	if !ok {
		return err
	}
	return fmt.Errorf("--%s: want %s, have %q", f.Name, want, value.GetValue())
}
