//go:build !calico332

package ctl

import (
	"context"
	"errors"
	_ "unsafe" // for linkname

	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
)

//go:linkname updateIPAMStrictAffinity github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.updateIPAMStrictAffinity
func updateIPAMStrictAffinity(ctx context.Context, c libipam.Interface, strict bool, maxBlocks *int) error

// configureOptions returns the error that configure would report, with the same text.
//
// Source: calicoctl/calicoctl/commands/ipam/configure.go, Configure (v3.31).
func configureOptions(o flags) error {
	strict, err := strictAffinity(o)
	if err == nil && strict == nil { // --strictaffinity=""
		err = errors.New("invalid value. Use true or false to set strictaffinity")
	}
	if err != nil {
		return err
	}
	blocks, err := maxBlocks(o)
	if err != nil {
		return err
	}
	return allowed(*strict, blocks)
}

// configure has valid options.
func configure(ctx context.Context, c libipam.Interface, o flags) error {
	strict, err := strictAffinity(o)
	if err != nil {
		return err
	}
	blocks, err := maxBlocks(o)
	if err != nil {
		return err
	}
	return updateIPAMStrictAffinity(ctx, c, *strict, blocks)
}
