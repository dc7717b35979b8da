//go:build calico332

package ctl

import (
	"context"
	"errors"
	_ "unsafe" // for linkname

	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
)

//go:linkname updateIPAMConfig github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.updateIPAMConfig
func updateIPAMConfig(ctx context.Context, c libipam.Interface, strict *bool, maxBlocks *int, persistence *libipam.VMAddressPersistence) error

//go:linkname parsePersistence github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.parsePersistence
func parsePersistence(val string) (*libipam.VMAddressPersistence, error)

// settings are what configure changes; nil: as it is.
type settings struct {
	strict      *bool
	blocks      *int
	persistence *libipam.VMAddressPersistence
}

func settingsOf(o flags) (s settings, err error) {
	if s.strict, err = strictAffinity(o); err != nil {
		return s, err
	}
	if s.blocks, err = maxBlocks(o); err != nil {
		return s, err
	}
	if val, _ := o["--kubevirt-ip-persistence"].(string); val != "" {
		s.persistence, err = parsePersistence(val)
	}
	return s, err
}

// configureOptions returns the error that configure would report, with the same text.
//
// Source: calicoctl/calicoctl/commands/ipam/configure.go, Configure (v3.32).
func configureOptions(o flags) error {
	s, err := settingsOf(o)
	switch {
	case err != nil:
		return err
	case s == settings{}:
		return errors.New("at least one configuration option must be specified")
	case s.strict != nil:
		return allowed(*s.strict, s.blocks)
	}
	return nil
}

// configure has valid options.
func configure(ctx context.Context, c libipam.Interface, o flags) error {
	s, err := settingsOf(o)
	if err != nil {
		return err
	}
	return updateIPAMConfig(ctx, c, s.strict, s.blocks, s.persistence)
}
