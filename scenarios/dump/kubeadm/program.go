package kubeadm

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/sim/ipam/kubeadm"
)

// PodResource is what static pods of the control plane are shown as.
var PodResource = dump.Resource{APIVersion: "v1", Plural: "pods", Kind: "Pod", Namespaced: true}

// The programs whose flags are about addresses, as the label component of their static pods
// names them.
//
// Source: cmd/kubeadm/app/phases/controlplane, GetStaticPodSpecs (v1.37.2); RKE2 sets the same.
const (
	controllerManager = "kube-controller-manager"
	apiServer         = "kube-apiserver"
	componentLabel    = "component"
)

// Programs are parts of the names of their pods.
var Programs = []string{controllerManager, apiServer}

// Program is what one pod of the control plane is started with, of what is about addresses.
type Program struct {
	Name string
	Args kubeadm.Arguments // sorted as flags are, each once
}

// KeepPod keeps the flags of a static pod of the control plane; ok is false if it is another
// pod.
func KeepPod(s *kept.Store, in kept.Objects[Program], h *kept.Head, raw json.RawMessage) (ok bool, err error) {
	p := Program{Name: h.Metadata.Labels[componentLabel]}
	if h.Metadata.Namespace != kubeadm.Namespace || p.Name != controllerManager && p.Name != apiServer || h.Metadata.DeletionTimestamp != nil {
		return false, nil
	}
	var o struct {
		Spec struct {
			Containers []struct{ Command, Args []string }
		}
		Status struct{ Phase string }
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return false, err
	}
	if o.Status.Phase == "Succeeded" || o.Status.Phase == "Failed" {
		return false, nil
	}
	for _, c := range o.Spec.Containers {
		words := slices.Concat(c.Command, c.Args)
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, p.Name) }) {
			p.Args = argumentsIn(words)
		}
	}
	if len(p.Args) == 0 {
		return false, nil
	}
	return true, kept.Put(s, in, p.Name+" "+h.Key(), h, p)
}

// booleans are the flags that may stand alone.
var booleans = []string{"allocate-node-cidrs"}

// argumentsIn reads the flags that are about addresses: --flag=value, --flag value, or within the
// line of a shell. What is no value of its flag is left out. The last of one name counts.
func argumentsIn(words []string) kubeadm.Arguments {
	var all []string
	for _, w := range words {
		if strings.Contains(w, " --") {
			all = append(all, strings.Fields(w)...)
		} else {
			all = append(all, w)
		}
	}
	var out kubeadm.Arguments
	for i, w := range all {
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-"), "=")
		switch {
		case !strings.HasPrefix(w, "-") || !slices.Contains(flags, name):
			continue
		case has:
		case slices.Contains(booleans, name):
			value = "true"
		case i+1 < len(all):
			value = all[i+1]
		}
		if value = legible(name, strings.Trim(value, `"'`)); value != "" {
			out = slices.DeleteFunc(out, func(a Argument) bool { return a.Name == name })
			out = append(out, Argument{Name: name, Value: value})
		}
	}
	return aboutAddresses(out)
}

// legible is the value of a flag, "" if it is none.
func legible(name, value string) string {
	switch {
	case strings.HasSuffix(name, "cidr") || strings.HasSuffix(name, "range") && !strings.Contains(name, "port"):
		for _, s := range Split(value) {
			if _, err := netip.ParsePrefix(s); err != nil {
				return ""
			}
		}
	case strings.HasPrefix(name, "node-cidr-mask-size"):
		if n, err := strconv.Atoi(value); err != nil || n < 1 || n > 128 {
			return ""
		}
	case slices.Contains(booleans, name):
		b, err := strconv.ParseBool(value)
		if err != nil {
			return ""
		}
		return strconv.FormatBool(b)
	}
	return value
}

// Effective is what the programs of the control plane run with: what their pods say, or else
// what kubeadm has configured. Where both say something else, it is reported.
func Effective(d *dump.Draft, config kept.Objects[Configuration], pods kept.Objects[Program]) (c Configuration) {
	for _, x := range config {
		c = x.Value
	}
	was := c
	if args, ok := same(d, pods, apiServer); ok {
		c.APIServer.ExtraArgs = args
		if value(args, "service-cluster-ip-range") != "" {
			c.Networking.ServiceSubnet = ""
		}
		was.compare(d, apiServer, args)
	}
	if args, ok := same(d, pods, controllerManager); ok {
		if s := value(args, "service-cluster-ip-range"); c.Networking.ServiceSubnet == "" && value(c.APIServer.ExtraArgs, "service-cluster-ip-range") == "" {
			c.Networking.ServiceSubnet = s
		}
		if value(args, "allocate-node-cidrs") == "" { // its default
			args = append(slices.Clone(args), Argument{Name: "allocate-node-cidrs", Value: "false"})
		}
		c.ControllerManager.ExtraArgs, c.Networking.PodSubnet = args, ""
		was.compare(d, controllerManager, args)
	}
	return c
}

// same are the flags of all pods of a program; ok is false if there is no pod. They are none if they
// differ: which of the pods leads is not known.
func same(d *dump.Draft, pods kept.Objects[Program], program string) (args kubeadm.Arguments, ok bool) {
	for _, key := range pods.Keys() {
		p := &pods[key].Value
		switch {
		case p.Name != program:
		case ok && !slices.Equal(args, p.Args):
			d.Unknown("the flags of %s: its pods have different ones", program)
			return nil, true
		default:
			args, ok = p.Args, true
		}
	}
	return args, ok
}

func value(args kubeadm.Arguments, name string) string {
	for _, a := range args {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// compare reports where a program runs with something else than kubeadm has configured.
func (c *Configuration) compare(d *dump.Draft, program string, args kubeadm.Arguments) {
	configured := c.ControllerManager.ExtraArgs
	subnets := map[string]string{"cluster-cidr": c.Networking.PodSubnet, "service-cluster-ip-range": c.Networking.ServiceSubnet}
	if program == apiServer {
		configured = c.APIServer.ExtraArgs
	}
	for _, a := range args {
		was := value(configured, a.Name)
		if was == "" {
			was = subnets[a.Name]
		}
		switch {
		case was == "" || slices.Equal(Split(was), Split(a.Value)):
		case d.Options.Anonymise:
			d.Left("of kubeadm-config --%s: %s runs with another value", a.Name, program)
		default:
			d.Left("of kubeadm-config %s: %s runs with --%s=%s", was, program, a.Name, a.Value)
		}
	}
}
