package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// folder is where the source of a fork is: what was given if that is a folder, and of a
// module at a version, github.com/…/whereabouts@v0.9.0 or whereabouts@0.9.0, where the go
// command keeps it, which downloads it if need be. Of a manager that is a part of Kubernetes,
// nodeipam@v1.31.14, it is a folder made for it (transplant).
func folder(what string) (string, error) {
	name, version, found := strings.Cut(what, "@")
	if _, err := os.Stat(what); err == nil || !found {
		return what, nil
	}
	if parts[name] != nil {
		return transplant(name, tagged(version))
	}
	all, _, err := upstreams()
	if err != nil {
		return "", err
	}
	for _, module := range all {
		if name == module || name == path.Base(module) {
			return download(module, version)
		}
	}
	return "", fmt.Errorf("%s: no folder, and no module @ version of an address manager that ipamsim runs: %s", what, strings.Join(all, " or "))
}

// download is the folder of a module at a version. The checksum database lacks some
// releases of address managers, as it does of those that ipamsim is built with; go.sum
// holds the sums of these.
func download(module, version string) (string, error) {
	out, err := commandWith([]string{"GONOSUMDB=" + module}, "mod", "download", "-json", module+"@"+tagged(version))
	var m struct{ Dir, Error string }
	if json.Unmarshal(out, &m) == nil && m.Error != "" {
		err = errors.New(m.Error)
	}
	if err != nil {
		return "", err
	}
	return m.Dir, nil
}

// tagged is a version as its tag is called, with a v.
func tagged(version string) string {
	if version != "" && version[0] >= '0' && version[0] <= '9' {
		return "v" + version
	}
	return version
}
