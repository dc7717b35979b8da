package kept

import (
	"regexp"
	"strings"
)

// Image cuts an image into its name and its tag; ok is false if it has no tag.
func Image(image string) (name, tag string, ok bool) {
	name, _, _ = strings.Cut(image, "@")
	i := strings.LastIndexByte(name, ':')
	if i < strings.LastIndexByte(name, '/') || i < 0 {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// Release reports whether a tag is what upstream's versions look like, with what rebuilders
// add.
func Release(tag string) bool { return len(tag) <= tagMax && release.MatchString(tag) }

var release = regexp.MustCompile(`^v?[0-9]+\.[0-9]+(\.[0-9]+)?([-+.][-+.0-9A-Za-z]*)?$`)

// tagMax bounds the length of a version.
const tagMax = 60
