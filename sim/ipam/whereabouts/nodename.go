package whereabouts

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"ipamsim/sim"
)

// nodeNames are the folders of one run that tell a plugin the name of its node:
// each holds a file nodename, as upstream's installer leaves it on a node.
//
// Source: pkg/storage/kubernetes/ipam.go, getNodeName; script/lib.sh,
// generateNodeNameFile (v0.9.4).
type nodeNames struct {
	mu   sync.Mutex
	root string
	dirs map[string]string
}

// of is the folder of a node. It lives as long as the run.
func (n *nodeNames) of(w *sim.World, node string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.root == "" {
		root, err := newFolder()
		if err != nil {
			return "", err
		}
		n.root, n.dirs = root, map[string]string{}
		w.Cleanup(func() { _ = os.RemoveAll(root) })
	}
	if dir := n.dirs[node]; dir != "" {
		return dir, nil
	}
	dir := filepath.Join(n.root, fmt.Sprint(len(n.dirs)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "nodename"), []byte(node), 0o600); err != nil {
		return "", err
	}
	n.dirs[node] = dir
	return dir, nil
}

var folders atomic.Uint64

// newFolder makes a private folder. Its name is counted, not drawn as that of
// os.MkdirTemp: inside a bubble a draw is part of the schedule, and how many it
// takes would depend on what other processes have made.
func newFolder() (string, error) {
	base := shared()
	if base == "" {
		base = os.TempDir()
	}
	for {
		dir := filepath.Join(base, fmt.Sprintf("ipamsim-whereabouts-%d-%d", os.Getpid(), folders.Add(1)))
		if err := os.Mkdir(dir, 0o700); !os.IsExist(err) {
			return dir, err
		}
	}
}
