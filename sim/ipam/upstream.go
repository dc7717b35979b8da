package ipam

import (
	"path"
	"runtime/debug"
	"strings"
)

// Upstream is the version of a module that is linked into this program, from the build information:
// "module@version". If go.mod replaces the module, the replacement follows: "module@version =>
// ../fork", "module@version => other/module@version".
//
// released are upstream's names of versions that have another name in Go (Calico tags no modules);
// may be nil. Upstream returns "" if the build information is missing, as in every test.
func Upstream(module string, released map[string]string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return upstream(info, module, released)
}

// Linked is Upstream. In a test, whose build information lists no modules, it derives
// "module@version" from the module's folder (Root), or "module@(devel)" for a fork in a folder.
func Linked(module, root string) string {
	if linked := Upstream(module, nil); linked != "" {
		return linked
	}
	version := "(devel)"
	if _, at, ok := strings.Cut(root, path.Base(module)+"@"); ok {
		version = at
	}
	return module + "@" + version
}

func upstream(info *debug.BuildInfo, module string, released map[string]string) string {
	at := func(m *debug.Module) string {
		v := m.Version
		if name := released[v]; name != "" {
			v = name
		}
		return m.Path + "@" + v
	}
	for _, m := range info.Deps {
		if m.Path != module {
			continue
		}
		switch r := m.Replace; {
		case r == nil, r.Path == m.Path && r.Version == m.Version: // as go.mod pins Kubernetes
			return at(m)
		case r.Version == "" || r.Version == "(devel)": // a directory
			return at(m) + " => " + r.Path
		default:
			return at(m) + " => " + at(r)
		}
	}
	return ""
}
