package model

import (
	"io/fs"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// atGitHub matches a module that is a complete GitHub repository, with its version. A longer path
// names a folder or a major version, whose tags differ.
var atGitHub = regexp.MustCompile(`^github\.com/([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+)@(v[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?)(?:\+incompatible)?$`)

// pseudo is a version that names a commit; Go Modules Reference, pseudo-versions.
var pseudo = regexp.MustCompile(`^v[0-9]+\.(?:0\.0-|[0-9]+\.[0-9]+-(?:[^+]*\.)?0\.)[0-9]{14}-([0-9a-f]{12})$`)

// URL is the address of one of the Frames on GitHub:
// "https://github.com/owner/repo/blob/v1.2.3/pkg/a.go#L7". It is "" if the module does not
// determine it: a fork, a module that is not a complete GitHub repository, a version that is
// neither a tag nor a commit.
func (c CallSite) URL(f Frame) string {
	base := c.base()
	if base == nil || f.Line < 1 || !fs.ValidPath(f.File) || !strings.HasSuffix(f.File, ".go") {
		return ""
	}
	u := *base
	u.Path, u.Fragment = u.Path+f.File, "L"+strconv.Itoa(f.Line)
	return u.String()
}

// Base is the GitHub folder of the files of Frames, with a slash at its end; "" if URL is "" for
// all of them.
func (c CallSite) Base() string {
	if u := c.base(); u != nil {
		return u.String()
	}
	return ""
}

func (c CallSite) base() *url.URL {
	m := atGitHub.FindStringSubmatch(c.Module)
	if m == nil {
		return nil
	}
	version := m[2]
	if commit := pseudo.FindStringSubmatch(version); commit != nil {
		version = commit[1]
	}
	return &url.URL{Scheme: "https", Host: "github.com", Path: "/" + m[1] + "/blob/" + version + "/"}
}
