package model

// NotInRelease begins the error of a scenario that needs what a release of an address
// manager does not have. Such a run proves nothing of the release: fuzz/versions looks for
// this prefix in what the release's program prints.
const NotInRelease = "not in this release: "
