package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/projectcalico/calico/confd/pkg/resource/template"
	"github.com/sirupsen/logrus"
)

// calicoModule is the module whose templates are executed, at the version of
// go.mod.
const calicoModule = "github.com/projectcalico/calico"

// findCalico asks the go command where the sources of Calico are, and which
// version they are.
func findCalico() (dir, version string, err error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}} {{.Version}}", calicoModule)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("go list -m %s: %w: %s", calicoModule, err, strings.TrimSpace(complaint.String()))
	}
	dir, version, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !ok || dir == "" {
		return "", "", fmt.Errorf("go list -m %s: its sources are not here; run go mod download", calicoModule)
	}
	return dir, version, nil
}

// confd renders BIRD configurations with Calico's own templates, executed by
// confd's own template processor. Only the keys that they read are ours.
type confd struct {
	calico string // the directory of Calico's sources
	// fork: for Calico's fork of BIRD. Otherwise what only the fork knows is left out.
	fork bool
}

// confdTurn: the node's name is a global variable of confd and one of the
// environment.
var confdTurn sync.Mutex

// krtTunnel is a statement that only Calico's fork of BIRD knows: the tunnel that
// the kernel shall send through, or none.
var (
	krtTunnel = regexp.MustCompile(`(?m)^\s*krt_tunnel = "";.*\n`)
	krtNone   = regexp.MustCompile(`(then\s*)krt_tunnel = "";.*(\n\s*else)`) // all that a branch has
	krtDevice = regexp.MustCompile(`krt_tunnel = "tunl0";`)
)

// render writes the daemon's file and what it includes for one node into dir.
//
// Source: confd/etc/calico/confd/conf.d/bird*.toml; confd/pkg/resource/template.
func (c confd) render(f family, node string, keys map[string]string, dir string) error {
	confdTurn.Lock()
	defer confdTurn.Unlock()
	silence.Do(func() { logrus.SetOutput(io.Discard) })
	template.NodeName = node
	if err := os.Setenv("NODENAME", node); err != nil {
		return err
	}
	resources := filepath.Join(dir, "conf.d")
	if err := os.MkdirAll(resources, 0o755); err != nil {
		return err
	}
	files := []string{f.bird, f.bird + "_aggr", f.bird + "_ipam"}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(c.calico, "confd/etc/calico/confd/conf.d", f+".toml"))
		if err != nil {
			return fmt.Errorf("confd: %w", err)
		}
		b = bytes.ReplaceAll(b, []byte("/etc/calico/confd/config/"), []byte(dir+"/"))
		if err := os.WriteFile(filepath.Join(resources, f+".toml"), b, 0o644); err != nil {
			return err
		}
	}
	err := template.Process(template.Config{
		ConfDir: dir, ConfigDir: resources, TemplateDir: filepath.Join(c.calico, "confd/etc/calico/confd/templates"),
		StoreClient: stored(keys), SyncOnly: true,
	})
	if err != nil {
		return fmt.Errorf("confd: node %s: %w", node, err)
	}
	for _, f := range files {
		if c.fork {
			break
		}
		if err := stockBIRD(filepath.Join(dir, f+".cfg")); err != nil {
			return fmt.Errorf("confd: node %s: %w", node, err)
		}
	}
	return nil
}

var silence sync.Once

// stockBIRD replaces in a rendered file what the BIRD of distributions does not know.
// What the fork would send through a tunnel it leaves out of the kernel: the lab puts it
// there (network.tunnels).
func stockBIRD(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	b = krtNone.ReplaceAll(b, []byte("${1}accept;$2"))
	b = krtDevice.ReplaceAll(b, []byte("if defined(bgp_next_hop) then reject;"))
	return os.WriteFile(file, krtTunnel.ReplaceAll(b, nil), 0o644)
}

// stored is confd's datastore: the keys that its daemon would have cached, with
// their values. It never changes.
type stored map[string]string

func (s stored) SetPrefixes([]string) error { return nil }

// GetValues returns what lies under any of the prefixes.
func (s stored) GetValues(prefixes []string) (map[string]string, error) {
	found := map[string]string{}
	for k, v := range s {
		for _, p := range prefixes {
			if strings.HasPrefix(k, p) {
				found[k] = v
			}
		}
	}
	return found, nil
}

// WatchPrefix returns immediately: rendering once does not call it.
func (s stored) WatchPrefix(string, []string, uint64, chan bool) (string, error) { return "", nil }

func (s stored) GetCurrentRevision() uint64 { return 1 }
