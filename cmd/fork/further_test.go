package main

// further are plants that no scenario need show: a search finds each, and reports a cause that is not known of the
// releases (TestPlantedIsNew).
var further = []plant{
	// Whereabouts.
	{
		name: "patch-untested", what: "Whereabouts patches a pool whatever has become of it since it was read",
		first:  60,
		module: whereabouts, file: "pkg/storage/kubernetes/ipam.go",
		old: "\tops = append(ops, patch...)",
		new: "\tops = patch",
	},
	{
		name: "overlap-by-interface", what: "Whereabouts takes a reservation of the same interface name for the pod's own",
		module: whereabouts, file: "pkg/storage/kubernetes/ipam.go",
		old: "overlappingRangeIPReservation.Spec.PodRef != ipamConf.GetPodRef()",
		new: "overlappingRangeIPReservation.Spec.IfName != ipam.IfName",
	},
	{
		name: "container-not-written", what: "Whereabouts finds the address of a pod's earlier sandbox, and writes the new container's ID into a copy",
		module: whereabouts, file: "pkg/allocate/allocate.go",
		old: "\t\t\t\treservelist[i].ContainerID = containerID\n",
		new: "\t\t\t\tfound := reservelist[i]\n\t\t\t\tfound.ContainerID = containerID\n",
	},
	{
		name: "del-by-interface", what: "Whereabouts' DEL takes the first address of an interface name for the container's",
		module: whereabouts, file: "pkg/allocate/allocate.go",
		old: "v.ContainerID == id && v.IfName == ifName",
		new: "v.ContainerID == id || v.IfName == ifName",
	},
	{
		name: "last-exclude-only", what: "Whereabouts heeds the last of several excluded ranges only",
		module: whereabouts, file: "pkg/allocate/allocate.go",
		old: "excluded = append(excluded, subnet)",
		new: "excluded = []*net.IPNet{subnet}",
	},
	{
		name: "range-end-ignored", what: "Whereabouts searches to the end of the network, past range_end",
		module: whereabouts, file: "pkg/allocate/allocate.go",
		old: "iphelpers.GetIPRange(ipnet, rangeStart, rangeEnd)",
		new: "iphelpers.GetIPRange(ipnet, rangeStart, nil)",
	},
	{
		name: "pods-listed-first", what: "Whereabouts' ip-reconciler lists the pods before the pools, and misses those that came in between",
		module: whereabouts, file: "pkg/reconciler/iploop.go",
		old: "\tipPools, err := k8sClient.ListIPPools()\n\tif err != nil {\n\t\treturn nil, logging.Errorf(\"failed to retrieve all IP pools: %v\", err)\n\t}\n\n" +
			"\tpods, err := k8sClient.ListPods()\n\tif err != nil {\n\t\treturn nil, err\n\t}\n",
		new: "\tpods, err := k8sClient.ListPods()\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\n" +
			"\tipPools, err := k8sClient.ListIPPools()\n\tif err != nil {\n\t\treturn nil, logging.Errorf(\"failed to retrieve all IP pools: %v\", err)\n\t}\n",
	},
	{
		name: "terminating-is-gone", what: "Whereabouts' ip-reconciler takes a pod that is being deleted for one that is gone",
		module: whereabouts, file: "pkg/reconciler/wrappedPod.go",
		old: "if isPodMarkedForDeletion(pod.Status.Conditions) {",
		new: "if pod.DeletionTimestamp != nil || isPodMarkedForDeletion(pod.Status.Conditions) {",
	},
	{
		name: "namesake-from-cache", what: "Whereabouts' control loop asks its node's cache, instead of the API server, whether there is a pod of the same name again",
		module: whereabouts, file: "pkg/controlloop/pod.go",
		old: "pc.k8sClient.CoreV1().Pods(podNamespace).Get(context.TODO(), podName, metav1.GetOptions{})",
		new: "pc.podLister.Pods(podNamespace).Get(podName)",
	},
	{
		name: "slices-assigned-anew", what: "Whereabouts' node slice controller forgets the owners of the slices whenever it reconciles",
		module: whereabouts, file: "pkg/node-controller/controller.go",
		old: "\t\t\tallocations := nodeslice.Status.Allocations\n",
		new: "\t\t\tallocations := nodeslice.Status.Allocations\n\t\t\tfor i := range allocations {\n\t\t\t\tallocations[i].NodeName = \"\"\n\t\t\t}\n",
	},
	// Calico.
	{
		name: "block-revision-refreshed", what: "Calico reads a block's revision again before it writes, so that nothing conflicts",
		module: calico, file: "libcalico-go/lib/ipam/ipam_block_reader_writer.go",
		old: "\tb.Value.(*model.AllocationBlock).SequenceNumber++\n",
		new: "\tb.Value.(*model.AllocationBlock).SequenceNumber++\n" + refreshed,
	},
	{
		name: "block-deleted-unseen", what: "Calico reads a block's revision again before it deletes the block, whatever is claimed there by now",
		module: calico, file: "libcalico-go/lib/ipam/ipam_block_reader_writer.go",
		old: "\t_, err := rw.client.DeleteKVP(ctx, b)\n",
		new: refreshed + "\t_, err := rw.client.DeleteKVP(ctx, b)\n",
	},
	{
		name: "others-block-claimed", what: "Calico takes a block that another node was faster to claim for its own",
		module: calico, file: "libcalico-go/lib/ipam/ipam_block_reader_writer.go",
		old: "if b.Affinity != nil && *b.Affinity == affinityKeyStr {",
		new: "if b.Affinity != nil && *b.Affinity != \"\" {",
	},
	{
		name: "affine-block-deleted", what: "Calico's DEL deletes a block that became empty, though it is a node's",
		module: calico, file: "libcalico-go/lib/ipam/ipam.go",
		old: "if block.empty() && block.Affinity == nil {",
		new: "if block.empty() {",
	},
	{
		name: "conflict-stays-counted", what: "Calico's handle counts an address whose block could not be written, and the retry counts it again",
		module: calico, file: "libcalico-go/lib/ipam/ipam.go",
		old: "\t\tif handleID != nil {\n\t\t\tlogCtx.Debug(\"Decrementing handle since we failed to allocate IP(s)\")",
		new: "\t\tif _, again := err.(cerrors.ErrorResourceUpdateConflict); handleID != nil && !again {\n\t\t\tlogCtx.Debug(\"Decrementing handle since we failed to allocate IP(s)\")",
	},
	{
		name: "asked-address-unchecked", what: "Calico gives an address to a pod that asks for it, though another pod has it",
		module: calico, file: "libcalico-go/lib/ipam/ipam_block.go",
		old: "\tif b.Allocations[ordinal] != nil {",
		new: "\tif b.Allocations[ordinal] != nil && handleID == nil {",
	},
	{
		name: "reservations-if-strict", what: "Calico heeds reservations of addresses only where it checks the block's owner",
		module: calico, file: "libcalico-go/lib/ipam/ipam_block.go",
		old: "\t\tif reservations.MatchesIP(addr) {",
		new: "\t\tif affinityCheck && reservations.MatchesIP(addr) {",
	},
	{
		name: "del-error-swallowed", what: "Calico's DEL says that it is done though the address could not be released",
		module: calico, file: "cni-plugin/pkg/ipamplugin/ipam_plugin.go",
		old: "\t\t\tlogger.WithError(err).Error(\"Failed to release address\")\n\t\t\treturn err\n\t\t}\n\t\tlogger.Warn(",
		new: "\t\t\tlogger.WithError(err).Error(\"Failed to release address\")\n\t\t}\n\t\tlogger.Warn(",
	},
	{
		name: "grace-reversed", what: "Calico's collector takes an address for leaked while the grace period lasts, and not when it is over",
		module: calico, file: "kube-controllers/pkg/controllers/node/ipam_allocation.go",
		old: "time.Since(*a.leakedAt) > leakGracePeriod && ",
		new: "time.Since(*a.leakedAt) < leakGracePeriod && ",
	},
	{
		name: "node-stays-cached", what: "Calico's collector remembers the node of a node object that was deleted",
		module: calico, file: "kube-controllers/pkg/controllers/node/ipam.go",
		old: "\t\t\tdelete(c.kubernetesNodesByCalicoName, cnode)\n",
		new: "",
	},
}

// refreshed is what makes Calico's write of the block b no compare-and-swap any more.
const refreshed = "\tif now, err := rw.queryBlock(ctx, b.Key.(model.BlockKey).CIDR, \"\"); err == nil {\n\t\tb.Revision = now.Revision\n\t}\n"
