// Command hermetic prints the path of an overlay that makes the installed Go runtime
// a function of a seed (package ipamsim/sim/hermetic/overlay), or runs the go command
// with it:
//
//	go test -overlay="$(go run ./cmd/hermetic)" -tags hermetic ./...
//	go run ipamsim/cmd/hermetic go test ./...
//
// The second line works in every module that requires ipamsim; "ipamsim go" is the
// same. It depends only on the standard library, so that it builds quickly.
//
// If the installed Go has changed in the places that are edited, it names every edit
// whose anchor is not there, prints "stock" in the place of the path, and exits with 1:
// the stock runtime may be built on instead, and is by "hermetic go". For any other
// failure it prints the reason only. "hermetic go" exits as the go command did, and
// with 2 if it could not be run.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"ipamsim/sim/hermetic/overlay"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "go" {
		os.Exit(overlay.Run(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	path, err := overlay.Path()
	if err != nil {
		if errors.Is(err, overlay.ErrMisfit) {
			fmt.Println("stock")
		}
		fmt.Fprintf(os.Stderr, "hermetic: %s\n", strings.ReplaceAll(err.Error(), "\ngo", "\nhermetic: go"))
		os.Exit(1)
	}
	fmt.Println(path)
}
