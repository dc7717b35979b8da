package main

// section is a group of documents in the menu.
type section struct {
	title     string
	documents []string // files of the repository, in order
}

// contents is the menu. Every document of the repository is in it; a test checks this.
var contents = []section{
	{"Start", []string{
		"README.md", "scenarios/tutorials/out-of-addresses.md", "scenarios/tutorials/author.md", "scenarios/tutorials/affected.md",
	}},
	{"Operators", []string{"scenarios/dump/README.md", "scenarios/plan/README.md", "scenarios/plan/REFERENCE.md", "reports/DUMPS.md", "reports/VERSIONS.md"}},
	{"Authors and CI", []string{
		"scenarios/README.md", "scenarios/REFERENCE.md", "fuzz/README.md", "fuzz/gate/README.md", "fuzz/ipamsimtest/README.md", "reports/page/README.md",
	}},
	{"Reference", []string{"cmd/cli/COMMANDS.md", "model/invariant/README.md", "model/README.md", "CHANGELOG.md", "VERSIONING.md"}},
	{"Results", []string{
		recordPath, "reports/README.md", "reports/FAMILIES.md", "reports/CAUSES.md", "reports/MUTANTS.md", "reports/ORACLE.md", "reports/VERIFY.md", "reports/PLANTS.md",
		"reports/MANAGERS.md", "reports/BENCH.md",
	}},
	{"How it works", []string{
		"ARCHITECTURE.md", "sim/README.md", "sim/strategy/README.md", "sim/cluster/README.md", "sim/cluster/KUBELET.md", "sim/por/README.md", "sim/disk/README.md",
		"sim/local/README.md", "sim/cloud/README.md", "fuzz/mutants/README.md",
	}},
	{"Contributors", []string{"CONTRIBUTING.md", "HACKING.md", "SECURITY.md"}},
}
