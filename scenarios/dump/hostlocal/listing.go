package hostlocal

import (
	"net/netip"
	"path"
	"regexp"
	"strings"

	"ipamsim/scenarios/dump"
)

// dataDir is where host-local keeps a file for each address that it has given away: of a network
// in a directory of its name, with the container and its interface in the file.
//
// Source: plugins/ipam/host-local/backend/disk, defaultDataDir, GetEscapedPath, Reserve
// (containernetworking/plugins v1.10.0).
const dataDir = "var/lib/cni/networks/"

// reservationsMax bounds what is kept: a hostile file may have a line each.
const reservationsMax = 1 << 20

// Listing is what a node's directory of one network holds, by one file of the dump.
type Listing struct {
	Network string
	Host    string // by the prompt, "": it does not say
	From    dump.Origin
	Files   map[netip.Addr]Reservation
}

// Reservation is one file. Container and Interface are its content, "": not in the dump.
type Reservation struct{ Container, Interface string }

// reader collects listings, line by line.
type reader struct {
	all     []*Listing
	open    *Listing // that the lines of a file are of
	host    string   // of the last prompt
	file    string
	kept    int
	content *netip.Addr // the address whose file is being read
}

var (
	// place is a path in the directory of a network, with what stands before it.
	place = regexp.MustCompile(`(?:^|[\s'"=/])(?:\S*/)?` + dataDir + `([\w.-]{1,64})(?:/([0-9A-Fa-f.:_]{2,45}))?/?(?:[\s'":*;|&]|$)`)
	// entry is a line of ls -l about a file.
	entry = regexp.MustCompile(`^-[-rwxsStT]{9}[.+@]?\s+[0-9]+\s+\S+\s+\S+\s+[0-9.,KMG]+\s+.*\s(\S+)$`)
	// rest are lines of ls about something else.
	rest = regexp.MustCompile(`^total [0-9.,KMG]+$|^d[-rwxsStT]{9}[.+@]?\s`)
	// A prompt names the host: root@node-1:~#, [root@node-1 ~]#; a command may name another one.
	prompt = regexp.MustCompile(`^\[?[\w.-]+@([\w.-]+)[:\s][^#$]*[#$]\s`)
	remote = regexp.MustCompile(`\bssh\s+(?:-[a-zA-Z]\s+|-[a-zA-Z]\S+\s+)*(?:[\w.-]+@)?([\w.-]+)\s+\S|\bdebug\s+(?:-\S+\s+)*nodes?/([\w.-]+)`)
	// inFile is the path of a file that host-local wrote, within an archive.
	inFile = regexp.MustCompile(`(?:^|/)` + dataDir + `([\w.-]{1,64})/([0-9A-Fa-f.:_]{2,45})$`)
	// container is the first line of such a file.
	container = regexp.MustCompile(`^[\w.-]{8,128}$`)
)

// marks are by what a listing is found in an archive.
var marks = []string{dataDir}

// holds reports whether a file of an archive is one of host-local's own.
func holds(name string) bool { return inFile.MatchString(name) }

// line takes a line of text; ok is false if it is nothing of host-local's.
func (r *reader) line(from dump.Origin, text string) (ok bool) {
	if from.File != r.file {
		r.file, r.open, r.host, r.content = from.File, nil, "", nil
		if m := inFile.FindStringSubmatch(from.File); m != nil {
			if a, ok := address(m[2]); ok {
				r.listing(from, m[1], path.Dir(from.File))
				r.reserve(a, Reservation{})
				r.content = &a
			}
		}
	}
	text = strings.TrimSpace(text)
	if r.content != nil && len(text) < 256 {
		return r.contents(text)
	}
	if len(text) == 0 || len(text) > 4096 {
		return false
	}
	if m := found(prompt, text, "@"); m != nil {
		r.open, r.host = nil, m[1]
	}
	if m := found(remote, text, "ssh", "debug"); m != nil {
		r.open, r.host = nil, m[1]+m[2]
	}
	if strings.HasPrefix(text, "$ ") || strings.HasPrefix(text, "# ") {
		r.open = nil
	}
	if m := found(place, text, dataDir); m != nil && !strings.HasPrefix(text, "drwx") {
		r.at(from, m[1], m[2], text)
		return true
	}
	return r.open != nil && r.entries(text)
}

// found is what an expression finds in a text that has one of some words: most lines have none.
func found(of *regexp.Regexp, text string, words ...string) []string {
	for _, w := range words {
		if strings.Contains(text, w) {
			return of.FindStringSubmatch(text)
		}
	}
	return nil
}

// at takes a line that names the directory of a network, or a file in it.
func (r *reader) at(from dump.Origin, network, file, text string) {
	if r.open == nil || r.open.Network != network {
		r.listing(from, network, r.host)
	}
	a, ok := address(file)
	for i := len(file) - 1; i > 0 && !ok; i-- { // grep puts what is in the file behind a colon
		if file[i] == ':' {
			if a, ok = address(file[:i]); ok {
				file = file[:i]
			}
		}
	}
	_, content, _ := strings.Cut(text, "/"+file+":")
	switch listed := entry.MatchString(text) || strings.HasPrefix(strings.TrimLeft(text, "./"), dataDir) || strings.HasPrefix(text, "/"); {
	case !ok || !listed:
	case container.MatchString(content):
		r.reserve(a, Reservation{Container: content})
	case content == "" && !strings.Contains(text, ": "):
		r.reserve(a, Reservation{})
	}
}

// entries takes a line of ls in the directory that is open.
func (r *reader) entries(text string) bool {
	if m := entry.FindStringSubmatch(text); m != nil {
		if a, ok := address(m[1]); ok {
			r.reserve(a, Reservation{})
		}
		return true
	}
	if rest.MatchString(text) {
		return true
	}
	var all []netip.Addr
	for _, word := range strings.Fields(text) {
		a, ok := address(word)
		switch {
		case ok:
			all = append(all, a)
		case word != "lock" && !strings.HasPrefix(word, "last_reserved_ip."):
			return false
		}
	}
	for _, a := range all {
		r.reserve(a, Reservation{})
	}
	return true
}

// contents takes a line of a file that host-local wrote: the container, then its interface.
func (r *reader) contents(text string) bool {
	x := r.open.Files[*r.content]
	switch {
	case !container.MatchString(text) && text != "eth0" && !strings.HasPrefix(text, "net"):
		return false
	case x.Container == "":
		x.Container = text
	case x.Interface == "":
		x.Interface = text
	}
	r.open.Files[*r.content] = x
	return true
}

// listing opens the listing of a network on a host: that of the same file and host, or a new one.
func (r *reader) listing(from dump.Origin, network, host string) {
	for _, l := range r.all {
		if l.Network == network && l.Host == host && (l.From.File == from.File || inFile.MatchString(from.File)) {
			r.open = l
			return
		}
	}
	r.open = &Listing{Network: network, Host: host, From: from, Files: map[netip.Addr]Reservation{}}
	r.all = append(r.all, r.open)
}

func (r *reader) reserve(a netip.Addr, x Reservation) {
	if _, there := r.open.Files[a]; there && x.Container == "" || r.kept >= reservationsMax {
		return
	}
	r.kept++
	r.open.Files[a] = x
}

// address is that of a file's name: on Windows _ stands for a colon.
func address(name string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.ReplaceAll(name, "_", ":"))
	return a.Unmap(), err == nil && a.Zone() == ""
}
