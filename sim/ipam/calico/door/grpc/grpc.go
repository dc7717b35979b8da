// Package grpc is the dataplane behind a socket, of which no simulated host has one.
package grpc

import (
	"errors"

	"github.com/projectcalico/calico/cni-plugin/pkg/types"
	"github.com/sirupsen/logrus"

	"ipamsim/sim/ipam/calico/door/linux"
)

var errNone = errors.New("no socket of a dataplane on this host")

// NewGrpcDataplane is an error.
func NewGrpcDataplane(types.NetConf, *logrus.Entry) (*linux.Dataplane, error) { return nil, errNone }
