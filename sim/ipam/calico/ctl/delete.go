package ctl

import (
	"context"
	"fmt"

	"github.com/projectcalico/calico/libcalico-go/lib/options"
)

// deletePool is calicoctl delete ippool NAME: Calico's client disables the pool, waits half a
// second, releases the affinities to its blocks and deletes it. The output is calicoctl's.
//
// Source: calicoctl/calicoctl/commands/common/resources.go, delete.go;
// libcalico-go/lib/clientv3/ippool.go, Delete (v3.31).
func deletePool(argv []string) (command, bool) {
	if len(argv) != 4 || argv[1] != "delete" || argv[2] != "ippool" {
		return command{}, false
	}
	name := argv[3]
	return command{run: func(ctx context.Context, op *execution, _ flags) (string, error) {
		c, err := op.ds.Client(op.gate, 0)
		if err != nil {
			return "", err
		}
		if _, err := c.IPPools().Delete(ctx, name, options.DeleteOptions{}); err != nil {
			//lint:ignore ST1005 calicoctl's words
			return "", fmt.Errorf("Failed to delete 'IPPool' resource: [%w]", err)
		}
		return "Successfully deleted 1 'IPPool' resource\n", nil
	}}, true
}
