package ctl

import (
	"context"
	"errors"
	"strconv"
	_ "unsafe" // for linkname

	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
)

//go:linkname updateIPAMStrictAffinity github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.updateIPAMStrictAffinity
func updateIPAMStrictAffinity(ctx context.Context, c libipam.Interface, strict bool, maxBlocks *int) error

// configureOptions says what configure would, and in the same words, and the one
// combination that libcalico refuses whatever the cluster's configuration is.
//
// Source: calicoctl/calicoctl/commands/ipam/configure.go, Configure;
// libcalico-go/lib/ipam/ipam.go, SetIPAMConfig.
func configureOptions(o flags) error {
	strict, err := strconv.ParseBool(o["--strictaffinity"].(string))
	if err != nil {
		return errors.New("invalid value. Use true or false to set strictaffinity")
	}
	blocks, err := maxBlocks(o)
	if err != nil {
		return errors.New("invalid value for maxblockhost. Use a valid number")
	}
	if blocks != nil && *blocks > 0 && !strict {
		return errors.New("MaxBlocksPerHost requires StrictAffinity to be enabled")
	}
	return nil
}

// maxBlocks is nil if nothing is to change.
func maxBlocks(o flags) (*int, error) {
	s, _ := o["--max-blocks-per-host"].(string)
	if s == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(s)
	return &n, err
}

// runConfigure is calicoctl ipam configure.
func runConfigure(ctx context.Context, op *execution, o flags) (string, error) {
	c, err := op.ds.Client(op.gate, 0)
	if err != nil {
		return "", err
	}
	strict, _ := strconv.ParseBool(o["--strictaffinity"].(string)) // checked
	blocks, _ := maxBlocks(o)
	return op.console.capture(func(s *screen) error {
		return updateIPAMStrictAffinity(ctx, configured{c.IPAM(), s}, strict, blocks)
	})
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
