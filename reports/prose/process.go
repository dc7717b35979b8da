package prose

import "strings"

// Process is the program an actor runs, as the subject of a sentence, with the space
// after it: its column already says for which pod.
func Process(actor string) string {
	name, _, _ := strings.Cut(actor, "/")
	if name, _, _ = strings.Cut(name, "~"); name == "" {
		return ""
	}
	return name + " "
}
