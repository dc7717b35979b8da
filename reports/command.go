package reports

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// Command is what to type to see the run again.
func (r *Report) Command() string {
	file := cmp.Or(r.File, r.Scenario+".yaml")
	if r.Strategy == "replay" {
		return "ipamsim replay " + Shell(file)
	}
	c := "ipamsim run " + Shell(file) + " --seed " + strconv.FormatUint(r.Seed, 10)
	if !r.Exact {
		c += " --strategy " + Shell(r.Strategy)
		if r.Datastore != "" {
			c += " --datastore " + Shell(r.Datastore)
		}
	}
	if r.Controllers != "" {
		c += " --controllers " + r.Controllers
	}
	return c
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,~-]+$`)

// Shell quotes an argument so that it can be pasted. One with control characters
// cannot: it is shown, not offered.
func Shell(arg string) string {
	if plain.MatchString(arg) && !strings.HasPrefix(arg, "-") {
		return arg
	}
	return "'" + strings.ReplaceAll(Clean(arg), "'", `'\''`) + "'"
}
