package ctl

import (
	"context"
	"errors"
	"strconv"

	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
)

// strictAffinity is nil if nothing is to change. The error is upstream's.
func strictAffinity(o flags) (*bool, error) {
	s, _ := o["--strictaffinity"].(string)
	if s == "" {
		return nil, nil
	}
	strict, err := strconv.ParseBool(s)
	if err != nil {
		return nil, errors.New("invalid value. Use true or false to set strictaffinity")
	}
	return &strict, nil
}

// maxBlocks is nil if nothing is to change. The error is upstream's.
func maxBlocks(o flags) (*int, error) {
	s, _ := o["--max-blocks-per-host"].(string)
	if s == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return nil, errors.New("invalid value for maxblockhost. Use a valid number")
	}
	return &n, nil
}

// allowed refuses the one combination that libcalico refuses for every configuration of the
// cluster.
//
// Source: libcalico-go/lib/ipam/ipam.go, SetIPAMConfig.
func allowed(strict bool, blocks *int) error {
	if blocks != nil && *blocks > 0 && !strict {
		return errors.New("MaxBlocksPerHost requires StrictAffinity to be enabled")
	}
	return nil
}

// runConfigure is calicoctl ipam configure.
func runConfigure(ctx context.Context, op *execution, o flags) (string, error) {
	c, err := op.ds.Client(op.gate, 0)
	if err != nil {
		return "", err
	}
	return op.console.capture(func(s *screen) error { return configure(ctx, configured{c.IPAM(), s}, o) })
}

// configured is the allocator's interface for configure, which reads, writes and
// then prints.
type configured struct {
	libipam.Interface
	screen *screen
}

func (c configured) GetIPAMConfig(ctx context.Context) (*libipam.IPAMConfig, error) {
	return away(ctx, c.screen, c.Interface.GetIPAMConfig)
}

func (c configured) SetIPAMConfig(ctx context.Context, cfg libipam.IPAMConfig) error {
	_, err := away(ctx, c.screen, func(ctx context.Context) (any, error) {
		return nil, c.Interface.SetIPAMConfig(ctx, cfg)
	})
	return err
}
