// Command upstream lists newer releases of the modules that ipamsim runs, and moves this
// repository to one of them on a branch:
//
//	make upstream
//	make upstream BUMP=k8s.io/kubernetes@v1.37.3
//
// The second writes the versions into every go.mod, generates the packages that are made from
// upstream's source and records their checksums, accepts transcribed functions whose source
// changed, builds, compares the library with scenarios/baseline.json, and rewrites the goldens.
// Each of the two kinds of change is a commit of its own. What has to be read before the branch
// is merged is printed in Markdown, and is in bin/upstream/report.md: the differences of
// upstream's source, what the library does differently, and where the old version is still
// named. HACKING.md has the list of what remains.
//
// Exit (of the built program; go run and make exit with 1 and 2 for each of them): 0 nothing behaves differently · 1 something does, or it does not build; the branch has what could be done · 2 could not run
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	bump := flag.String("bump", "", "move to `module@version` on a branch")
	brief := flag.Bool("brief", false, "list only the available module@version, one per line")
	flag.Parse()
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("want no arguments, have %q", flag.Args())
	case *bump != "":
		err = move(*bump)
	default:
		err = list(os.Stdout, *brief)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "upstream: %s\n", strings.TrimSpace(err.Error()))
		code := 2
		if errors.Is(err, errDiffers) {
			code = 1
		}
		os.Exit(code)
	}
}
