// Package door is what copies of Calico's programs (sim/ipam/calico/copies.txt) reach
// the run through: the clients that each process has, the network of a simulated host, and
// what that host lacks. The folders below have the names of the packages in whose place they
// are imported.
package door

import (
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/platform"
)

// Machine is a process of the run: whoever executes a program puts it into
// platform.Program.
type Machine interface {
	// Calico is the process's client of the datastore. What it sends passes the gate of
	// the process.
	Calico(qps float32) (clientv3.Interface, error)
	// Kube is its clientset for the Kubernetes API, through the same gate. Of the
	// configuration only the limits count.
	Kube(*rest.Config) (*kubernetes.Clientset, error)
	// Plug makes the pod's interface, Unplug takes it out of its sandbox. The error is the
	// kernel's.
	Plug() error
	Unplug() error
}

// Here is the process that the calling goroutine belongs to.
func Here() Machine { return platform.Current().Machine.(Machine) }

// RestartReturnCode is the exit code after which the wrapper starts kube-controllers again.
//
// Source: pkg/cmdwrapper/cmdwrapper.go (v3.31; typha/pkg/cmdwrapper in v3.30).
const RestartReturnCode = 129
