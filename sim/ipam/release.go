package ipam

// NotInRelease begins an error, or what of one a release does not have that a scenario
// needs: it can say nothing of the release, which is neither healthy nor broken. Whoever
// compares releases looks for it in what their programs say.
const NotInRelease = "not in this release: "
