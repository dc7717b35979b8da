package finding

// The names of a finding's files, which are in one directory. All but the first may be missing.

// File is the scenario with the schedule, which replays.
func File(fingerprint string) string { return fingerprint + ".yaml" }

// RealFile replays with Kubernetes' own controllers.
func RealFile(fingerprint string) string { return fingerprint + ".real.yaml" }

// PageFile shows the run step by step.
func PageFile(fingerprint string) string { return fingerprint + ".html" }

// HistoryFile shows that no order of ADDs and DELs explains what they returned.
func HistoryFile(fingerprint string) string { return fingerprint + ".history.html" }

// IssueFile is the text of an issue for the address manager's maintainers.
func IssueFile(fingerprint string) string { return fingerprint + ".md" }

// Files returns all names.
func Files(fingerprint string) []string {
	return []string{File(fingerprint), RealFile(fingerprint), PageFile(fingerprint), IssueFile(fingerprint), HistoryFile(fingerprint)}
}
