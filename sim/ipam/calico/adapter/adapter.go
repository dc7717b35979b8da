// Package adapter connects copies of Calico's programs (sim/ipam/calico/copies.txt) to the
// run: it has the clients of each process, the network of a simulated host, and packages
// without effect for what that host lacks. The folders below have the names of the packages
// that they replace.
package adapter

import (
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/platform"
)

// Machine is a process of the run. The code that executes a program sets
// platform.Program.Machine.
type Machine interface {
	// Calico returns the process's client of the datastore. Its requests pass the gate of
	// the process.
	Calico(qps float32) (clientv3.Interface, error)
	// Kube returns its clientset for the Kubernetes API, through the same gate. It uses
	// only the rate limits of the configuration.
	Kube(*rest.Config) (*kubernetes.Clientset, error)
	// Plug creates the pod's interface, Unplug removes it from its sandbox. The error is the
	// kernel's.
	Plug() error
	Unplug() error
}

// Here returns the process that the calling goroutine belongs to.
func Here() Machine { return platform.Current().Machine.(Machine) }

// RestartReturnCode is the exit code after which the wrapper restarts kube-controllers.
//
// Source: pkg/cmdwrapper/cmdwrapper.go (v3.31; typha/pkg/cmdwrapper in v3.30).
const RestartReturnCode = 129
