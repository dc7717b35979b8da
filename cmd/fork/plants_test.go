package main

// plant is one change for the worse, made in a copy of one file: old is there
// exactly once, or the test fails.
type plant struct {
	name     string
	what     string // what an author would have done wrong
	module   string // "" is ours
	file     string // of the module
	old, new string
	// kind and about are what the gate must report in a red row, and scenario is one of these rows.
	kind, about, scenario string
	// first is the seed of a world in which a search finds it (TestPlantedIsNew); 0: it is
	// soon found in the corpora.
	first uint64
}

// fixed is the fix that an author would try for whereabouts#162: a Pending pod on a node without a
// reported status keeps its addresses.
var fixed = []struct{ file, old, new string }{
	{"pkg/reconciler/wrappedPod.go", "\tphase v1.PodPhase\n", "\tphase v1.PodPhase\n\tstarting bool\n"},
	{
		"pkg/reconciler/wrappedPod.go", "\t\tphase: pod.Status.Phase,\n",
		"\t\tphase: pod.Status.Phase,\n\t\tstarting: pod.Status.Phase == v1.PodPending && pod.Spec.NodeName != \"\" && networkStatusFromPod(pod) == \"[]\",\n",
	},
	{
		"pkg/reconciler/iploop.go", "\t\t\tisFound := isIpOnPod(&livePod, podRef, ip)\n",
		"\t\t\tif livePod.starting {\n\t\t\t\treturn true\n\t\t\t}\n\t\t\tisFound := isIpOnPod(&livePod, podRef, ip)\n",
	},
}

// elected is the fix for a plugin without a leader elector, because its node has no slice: return an error instead of
// running it.
var elected = []struct{ file, old, new string }{{
	"pkg/storage/kubernetes/ipam.go", "\tvar wg sync.WaitGroup\n\twg.Add(2)\n",
	"\tif le == nil {\n\t\treturn newips, fmt.Errorf(\"no leader elector\")\n\t}\n\tvar wg sync.WaitGroup\n\twg.Add(2)\n",
}}

// plants are regressions of each kind that a gate is for.
var plants = []plant{
	// Allocators.
	{
		name: "overlap-unwritten", what: "Whereabouts reserves an address in its range, but not across overlapping ranges",
		first:  13,
		module: whereabouts, file: "pkg/storage/kubernetes/ipam.go",
		old:  "\t\t\tif !skipOverlappingRangeUpdate {",
		new:  "\t\t\tif !skipOverlappingRangeUpdate && mode == whereaboutstypes.Deallocate {",
		kind: "new-violation", about: "overlap-reservation", scenario: "ok-dual-stack",
	},
	{
		name: "last-address-unused", what: "Whereabouts' search stops one address before the end of the range",
		module: whereabouts, file: "pkg/allocate/allocate.go",
		old:  "iphelpers.CompareIPs(ip, lastIP) <= 0",
		new:  "iphelpers.CompareIPs(ip, lastIP) < 0",
		kind: "new-violation", about: "spurious-exhaustion", scenario: "ok-exclude",
	},
	{
		name: "reservation-ignored", what: "Whereabouts overlooks one of the reserved addresses",
		module: whereabouts, file: "pkg/allocate/allocate.go",
		old:  "\tfor _, r := range reserveList {",
		new:  "\tfor _, r := range reserveList[min(1, len(reserveList)):] {",
		kind: "new-violation", about: "duplicate-address", scenario: "ok-overlap-off",
	},
	{
		name: "affinity-unconfirmed", what: "Calico's affinity for a block that was claimed stays pending",
		module: calico, file: "libcalico-go/lib/ipam/ipam_block_reader_writer.go",
		old:  "aff.Value.(*model.BlockAffinity).State = model.StateConfirmed\n\tconfirmed, err",
		new:  "aff.Value.(*model.BlockAffinity).State = model.StatePending\n\tconfirmed, err",
		kind: "cost", about: "writes per ADD", scenario: "all of calico",
	},
	{
		name: "handle-not-decremented", what: "Calico releases an address, and its handle counts it still",
		module: calico, file: "libcalico-go/lib/ipam/ipam.go",
		old:  "handle.decrementBlock(blockCIDR, num)",
		new:  "handle.decrementBlock(blockCIDR, 0*num)",
		kind: "new-violation", about: "leftover-handle", scenario: "b3-node-object-deleted-gc",
	},
	{
		name: "strict-affinity-ignored", what: "Calico borrows from other nodes' blocks although strictAffinity is on",
		module: calico, file: "libcalico-go/lib/ipam/ipam.go",
		old:  "if config.StrictAffinity != true && rem != 0 {",
		new:  "if rem != 0 {",
		kind: "new-violation", about: "strict-affinity", scenario: "b1-order-strict",
	},
	{
		name: "max-blocks-off-by-one", what: "Calico lets a host have one block more than maxBlocksPerHost",
		module: calico, file: "libcalico-go/lib/ipam/ipam.go",
		old:  "numBlocksOwned >= maxNumBlocks",
		new:  "numBlocksOwned > maxNumBlocks",
		kind: "new-violation", about: "max-blocks", scenario: "found-calico-blocks-of-30",
	},
	// Reconcilers.
	{
		name: "reconciler-keeps", what: "Whereabouts' ip-reconciler keeps the addresses of pods that are gone",
		module: whereabouts, file: "pkg/reconciler/iploop.go",
		old:  "\t\t\treturn isFound\n\t\t}\n\t}\n\treturn false\n}",
		new:  "\t\t\treturn isFound\n\t\t}\n\t}\n\treturn true\n}",
		kind: "new-violation", about: "leaked-claim", scenario: "ok-reconciler-frees",
	},
	{
		name: "reconciler-does-not-wait", what: "Whereabouts' ip-reconciler no longer looks again at a Pending pod",
		module: whereabouts, file: "pkg/reconciler/iploop.go",
		old:  "retries < storage.PodRefreshRetries",
		new:  "retries < 0*storage.PodRefreshRetries",
		kind: "new-violation", about: "duplicate-address", scenario: "found-failed-refetch-frees",
	},
	// Routes.
	{
		name: "borrowed-not-announced", what: "a node does not announce the /32 of an address that it borrowed",
		file: "model/route/filter.go",
		old:  "if !pools[i].NoExport && covers(pools[i].Prefix, dst) {",
		new:  "if !pools[i].NoExport && !dst.IsSingleIP() && covers(pools[i].Prefix, dst) {",
		kind: "new-violation", about: "blackholed-address", scenario: "b2-with-a-mesh",
	},
	{
		name: "no-blackhole", what: "a node has no route for its block, so other nodes cannot reach it",
		file: "model/route/speaker.go",
		old:  "if !a.Block.IsSingleIP() {",
		new:  "if !a.Block.IsValid() {",
		kind: "new-violation", about: "blackholed-address", scenario: "b2-with-a-mesh",
	},
	// Costs.
	{
		name: "add-asks-twice", what: "Whereabouts' ADD asks for the pools' list once more",
		module: whereabouts, file: "pkg/storage/kubernetes/ipam.go",
		old:  "if err := ipam.Status(requestCtx); err != nil {",
		new:  "_ = ipam.Status(requestCtx)\n\tif err := ipam.Status(requestCtx); err != nil {",
		kind: "cost", about: "API calls per ADD", scenario: "all of whereabouts",
	},
	{
		name: "pods-listed-per-address", what: "Whereabouts' ip-reconciler lists all pods for every address",
		module: whereabouts, file: "pkg/reconciler/iploop.go",
		old:  "logging.Debugf(\"the IP reservation: %s\", ipReservation)",
		new:  "_, _ = rl.k8sClient.ListPods()",
		kind: "cost", about: "API calls per pass of ip-reconciler", scenario: "all of whereabouts",
	},
	{
		name: "affinity-asked-twice", what: "Calico's allocator reads the affinity of every block twice",
		module: calico, file: "libcalico-go/lib/ipam/ipam.go",
		old:  "aff, err := s.client.blockReaderWriter.queryAffinity(ctx, s.affinityCfg, cidr, \"\")",
		new:  "_, _ = s.client.blockReaderWriter.queryAffinity(ctx, s.affinityCfg, cidr, \"\")\n\t\t\taff, err := s.client.blockReaderWriter.queryAffinity(ctx, s.affinityCfg, cidr, \"\")",
		kind: "cost", about: "API calls per ADD", scenario: "all of calico",
	},
	{
		name: "slower-retry", what: "Whereabouts waits 800 ms instead of 500 ms before it asks for the lease again",
		module: whereabouts, file: "pkg/types/types.go",
		old:  "DefaultLeaderRetryPeriod      = 500",
		new:  "DefaultLeaderRetryPeriod      = 800",
		kind: "cost", about: "time of an ADD, median", scenario: "all of whereabouts",
	},
}
