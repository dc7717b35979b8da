package prose

import "strings"

// Process returns the program that an actor runs, as the subject of a sentence, with a
// space after it. The pod it runs for is omitted: the timeline's column names it.
func Process(actor string) string {
	name, _, _ := strings.Cut(actor, "/")
	if name, _, _ = strings.Cut(name, "~"); name == "" {
		return ""
	}
	return name + " "
}
