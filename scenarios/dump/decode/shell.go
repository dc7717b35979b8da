package decode

import (
	"bytes"
	"regexp"
	"strings"
)

// Absent is what a command printed in place of objects. It is no evidence that there are
// none: the kind is unknown.
type Absent struct {
	From      Origin
	Resource  string // full name, as far as it is known
	Namespace string // "": all, or not known
	Why       Reason
	Text      string   // the line
	Command   []string // that printed it; nil: not known
}

// Reason is why a command printed no objects.
type Reason int

// The reasons.
const (
	Failed     Reason = iota // the command ended with another error
	Forbidden                // the user may not list the resource
	NoSuchType               // the API server does not serve the resource
	NoneFound                // "No resources found"
)

var (
	// tool finds the command of a prompt: the tool's name, and what follows.
	tool = regexp.MustCompile(`(?:^|[\s;&|(/\\>])((?:kubectl|oc|[a-z]+ctl|k3s|microk8s|k)(?:\.exe)?\s+\S.*)$`)
	// bare is a command without a prompt: a script's, or one of sh -x.
	bare = regexp.MustCompile(`^(?:\+ )?(?:sudo |[A-Z_]+=\S+ )*(?:\S*/)?((?:kubectl|oc|[a-z]+ctl)(?:\.exe)? +(?:-\S+ +(?:\S+ +)?)*(?:get|adm|ipam|describe|cluster|cluster-info|datastore|api-resources|config|version|logs|exec)\b.*)$`)
	// shell is a prompt in front of any command, or of none: [root@host ~]#, user@host:~$,
	// host:/root #, PS C:\>, C:\>, $, %, (venv) $, bash-5.1$.
	shell = regexp.MustCompile(`^(?:\([^()\s]{1,40}\) ?)*(?:\[[^\[\]]{1,80}\]|[\w.+-]+@[\w.-]+[^$#%>]{0,80}|PS [A-Za-z]:\\[^>]{0,120}|[A-Za-z]:\\[^>]{0,120}|[\w.-]+:[~/][^\s$#%>]{0,80}(?: [\w.-]{1,40})?|(?:ba|z|k)?sh-[\d.]+|[~/][\w./-]{0,80})? ?[$#%>❯➜»]+(?:\s|$)`)
	// yamlKey is a key of a mapping in the first column, as Kubernetes' fields are called.
	yamlKey = regexp.MustCompile(`^["']?[a-z][A-Za-z0-9]*["']?:(?:\s|$)`)
	// klog is a line that client-go logs: E1001 10:12:03.123456    4242 memcache.go:287] …
	klog = regexp.MustCompile(`^[IWEF][0-9]{4} [0-9:.]{8,18} +[0-9]+ [\w./-]+\.go:[0-9]+\]`)
	// pager is what less and more print at the end of a page.
	pager = regexp.MustCompile(`^(?:--More--|\(END\)$|lines [0-9]+-[0-9]+|-- INSERT --$|:$)`)

	forbidden  = regexp.MustCompile(`cannot (?:list|get|watch) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)
	noSuchType = regexp.MustCompile(`(?:the server doesn't have a resource type|no matches for kind) "([^"]+)"`)
	inSpace    = regexp.MustCompile(`No resources found in (\S+) namespace`)
)

// noise are lines that the tools also print. They stand anywhere, for standard output
// and standard error are not written together.
func noise(text []byte) bool {
	switch {
	case len(text) == 0 || text[0] == ' ': // most lines
		return false
	case klog.Match(text), pager.Match(text):
		return true
	}
	for _, s := range []string{"Note: found ", "Warning: ", "Defaulted container ", "Flag --", "Unable to use a TTY", "If you don't see a command prompt"} {
		if bytes.HasPrefix(text, []byte(s)) {
			return true
		}
	}
	return false
}

// command is what was typed in the line of a terminal's log; ok is false if the line is
// none. words is nil for a prompt without a command that is known.
func (in *input) command(text []byte) (words []string, ok bool) {
	if len(text) > commandMax || yamlKey.Match(text) {
		return nil, false
	}
	if m := bare.FindSubmatch(text); m != nil {
		return strings.Fields(string(m[1])), true
	}
	prompt := shell.Find(text)
	m := tool.FindSubmatchIndex(text)
	switch {
	case prompt != nil && m != nil && m[2] >= len(bytes.TrimRight(prompt, " ")):
		return strings.Fields(string(text[m[2]:m[3]])), true
	case prompt != nil:
		return nil, true
	case m != nil && m[2] > 0 && bytes.ContainsAny(text[:m[2]], "#$>%❯➜»") && !bytes.Contains(text[:m[2]], []byte(": ")):
		return strings.Fields(string(text[m[2]:m[3]])), true
	}
	return nil, false
}

// commandMax is the length of the longest line that may be a command.
const commandMax = 8 << 10

// typed remembers a command, with the lines on which it goes on.
func (in *input) typed(words []string) error {
	for n := 0; n < 20 && len(words) > 0 && words[len(words)-1] == `\`; n++ {
		line, err := in.next()
		if isEnd(err) {
			break
		}
		if err != nil {
			return err
		}
		more := strings.Fields(strings.TrimPrefix(strings.TrimSpace(string(line)), "> "))
		words = append(words[:len(words)-1], more...)
	}
	in.listing, in.typedWords, in.key = "", words, ""
	return nil
}

// absent takes a line that a command printed in place of objects.
func (in *input) absent(text []byte) bool {
	a := Absent{From: Origin{in.name, in.line}, Resource: in.listing, Command: in.typedWords, Text: string(text)}
	switch {
	case bytes.HasPrefix(text, []byte("No resources found")):
		a.Why = NoneFound
		if m := inSpace.FindSubmatch(text); m != nil {
			a.Namespace = string(m[1])
		}
	case noSuchType.Match(text):
		a.Why = NoSuchType
		if a.Resource == "" {
			a.Resource = string(noSuchType.FindSubmatch(text)[1])
		}
	case bytes.HasPrefix(text, []byte("Error from server")) || bytes.HasPrefix(text, []byte("error: ")) || bytes.HasPrefix(text, []byte("Unable to connect to the server")) ||
		bytes.HasPrefix(text, []byte("The connection to the server")) || bytes.HasPrefix(text, []byte("Failed to ")) || bytes.HasPrefix(text, []byte("Error: ")):
		if m := forbidden.FindSubmatch(text); m != nil {
			a.Why, a.Namespace = Forbidden, string(m[3])
			a.Resource = strings.TrimSuffix(string(m[1])+"."+string(m[2]), ".")
		}
	default:
		return false
	}
	if in.Absent != nil {
		in.Absent(a)
	}
	in.listing, in.typedWords = "", nil
	return true
}

// outside reports whether a line in the first column ends a document: a prompt, a fence,
// what kubectl prints in place of objects, prose.
func (in *input) outside(line []byte) bool {
	if len(line) == 0 || line[0] == ' ' {
		return false
	}
	switch line[0] {
	case '-', '}', ']':
		return false
	case '#':
		_, ok := in.command(line)
		return ok && tool.Match(line)
	}
	return !yamlKey.Match(line) || bytes.HasPrefix(line, []byte("error: "))
}

// fence reports whether a line is markup around what is pasted.
func fence(text []byte) bool {
	for _, s := range []string{"```", "~~~", "{code", "{noformat", "[code", "[/code", "<details", "</details", "<summary", "</summary", "<pre", "</pre", "<code", "</code", "<br"} {
		if bytes.HasPrefix(text, []byte(s)) {
			return true
		}
	}
	return false
}

// ellipsisMax is the length of the longest line that is an ellipsis, with its indentation.
const ellipsisMax = 40

// ellipsis reports whether a line stands for lines that were left out.
func ellipsis(line []byte) bool {
	if len(line) > ellipsisMax || !bytes.ContainsAny(line, ".…ni") {
		return false
	}
	text := strings.ToLower(strings.Trim(string(bytes.TrimSpace(line)), "#-[]()<> \t"))
	return text == "..." || text == "…" || text == "......" || text == "snip" || text == "snipped" || text == "truncated" || text == "output truncated" || text == "omitted"
}
