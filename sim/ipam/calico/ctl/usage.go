package ctl

import (
	"errors"
	"fmt"
	"strings"

	docopt "github.com/docopt/docopt-go"
)

// flags are the values of a command line by flag: string, bool, []string, or
// nil.
type flags map[string]any

// usageOf asks a command of calicoctl for its usage, which it keeps inside of
// the function that runs it: with --help, docopt hands it to a handler before
// anything else happens, and the command ends.
//
// Source: calicoctl/calicoctl/commands/ipam/*.go.
func usageOf(name string, run func([]string) error) (usage string) {
	p := docopt.DefaultParser
	defer func(h func(error, string)) { p.HelpHandler = h }(p.HelpHandler)
	p.HelpHandler = func(_ error, u string) { usage = u }
	_ = run([]string{"ipam", name, "--help"}) // it returns nothing but nil then
	return usage
}

// parse reads args ("ipam", the command, flags) as the command itself does.
func (c command) parse(args []string) (flags, error) {
	p := docopt.Parser{HelpHandler: docopt.NoHelpHandler}
	o, err := p.ParseArgs(c.usage, args, "")
	if err != nil {
		return nil, fmt.Errorf("invalid option: 'calicoctl %s'; usage: %s", strings.Join(args, " "), c.line())
	}
	if len(o) == 0 {
		return nil, errors.New("calico: --help is not simulated; usage: " + c.line())
	}
	for _, file := range []string{"--config", "--kubeconfig"} {
		if s, ok := o[file].(string); ok && !strings.Contains(c.usage, "[default: "+s+"]") {
			return nil, fmt.Errorf("calico: %s %s: a simulated operator has one cluster only", file, s)
		}
	}
	return flags(o), nil
}

// line is the usage without the descriptions.
func (c command) line() string {
	_, after, _ := strings.Cut(c.usage, "Usage:\n")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}
