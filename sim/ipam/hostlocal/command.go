package hostlocal

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"ipamsim/sim"
)

// wipe is the command that manuals recommend if addresses have leaked: it removes the files of a
// network on one node.
//
// Source: kubernetes/kubernetes #57280, k3s-io/k3s #4682 and #5885.
var wipe = []string{"ssh", "NODE", "rm", "-rf", "DIRECTORY"}

// checkCommand reports whether a command line is supported.
func checkCommand(argv []string) error {
	if len(argv) != len(wipe) || argv[0] != wipe[0] || !slices.Equal(argv[2:4], wipe[2:4]) {
		return fmt.Errorf("%s: no command here, want %s", strings.Join(argv, " "), strings.Join(wipe, " "))
	}
	if !path.IsAbs(argv[4]) || path.Clean(argv[4]) == "/" {
		return errors.New("rm -rf: want the directory of a network, e.g. " + DataDir(networkName))
	}
	return nil
}

// command carries such a line out.
func (i *instance) command(ctx context.Context, g *sim.Gate, argv []string) (string, error) {
	if err := checkCommand(argv); err != nil {
		return "", err
	}
	return "", i.disks.Of(argv[1]).Process(ctx, g).RemoveAll(argv[4])
}
