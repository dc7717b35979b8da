package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// command is a line for kubectl, as far as it is about Services: create service TYPE NAME,
// delete service NAME, patch service NAME --patch=JSON.
type command struct {
	server string
	verb   ipam.Verb
	object ipam.Object
}

var errUsage = errors.New("want kubectl [--server=kube-apiserver] create service clusterip|nodeport NAME --tcp=PORT, delete service NAME, or patch service NAME --patch=JSON")

// readCommand reads the line as kubectl does.
//
// Source: kubectl/pkg/cmd/create/create_service.go (v0.37.2).
func readCommand(argv []string) (c command, err error) {
	set := pflag.NewFlagSet("kubectl", pflag.ContinueOnError)
	server := set.StringP("server", "s", "", "")
	where := set.StringP("namespace", "n", metav1.NamespaceDefault, "")
	ports := set.IntSlice("tcp", nil, "")
	nodePort := set.Int32("node-port", 0, "")
	clusterIP := set.String("clusterip", "", "")
	patch := set.StringP("patch", "p", "", "")
	if len(argv) == 0 || argv[0] != "kubectl" {
		return c, errUsage
	}
	if err := set.Parse(argv[1:]); err != nil {
		return c, fmt.Errorf("kubectl: %w", err)
	}
	c.server, c.object = *server, ipam.Object{Kind: "Service", Namespace: *where}
	args := set.Args()
	switch {
	case len(args) == 4 && slices.Equal(args[:2], []string{"create", "service"}):
		c.verb, c.object.Name = ipam.Create, args[3]
		c.object.Body, err = manifest(args[2], c.object, *ports, *nodePort, *clusterIP)
	case len(args) == 3 && slices.Equal(args[:2], []string{"delete", "service"}):
		c.verb, c.object.Name = ipam.Delete, args[2]
	case len(args) == 3 && slices.Equal(args[:2], []string{"patch", "service"}) && json.Valid([]byte(*patch)):
		c.verb, c.object.Name, c.object.Body = ipam.Merge, args[2], json.RawMessage(*patch)
	default:
		err = errUsage
	}
	return c, err
}

// serviceTypes are the types of Services that have addresses.
var serviceTypes = map[string]corev1.ServiceType{"clusterip": corev1.ServiceTypeClusterIP, "nodeport": corev1.ServiceTypeNodePort}

func manifest(kind string, o ipam.Object, ports []int, nodePort int32, clusterIP string) (json.RawMessage, error) {
	s := corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: o.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, Labels: map[string]string{"app": o.Name}},
		Spec:       corev1.ServiceSpec{Type: serviceTypes[kind], Selector: map[string]string{"app": o.Name}, ClusterIP: clusterIP},
	}
	if s.Spec.Type == "" || len(ports) == 0 {
		return nil, errUsage
	}
	for n, p := range ports {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", n), Port: int32(p), NodePort: nodePort})
	}
	return json.Marshal(s)
}

func checkCommand(argv []string) error {
	_, err := readCommand(argv)
	return err
}

// command runs the line, and prints as kubectl does.
func (i *instance) command(ctx context.Context, g *sim.Gate, argv []string) (string, error) {
	c, err := readCommand(argv)
	if err != nil {
		return "", err
	}
	if err := i.kubectl(ctx, i.env.API.Wire(g, i.pick(g, c.server)), c.verb, c.object); err != nil {
		return "", err
	}
	done := map[ipam.Verb]string{ipam.Create: "created", ipam.Delete: "deleted", ipam.Merge: "patched"}[c.verb]
	return strings.Join([]string{"service/" + c.object.Name, done}, " ") + "\n", nil
}
