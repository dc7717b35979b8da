package model

// NotInRelease is the prefix of the error of a scenario that needs a feature that a release of an
// address manager does not have. Such a run proves nothing about the release. fuzz/versions looks
// for this prefix in the output of the release's program.
const NotInRelease = "not in this release: "
