package decode

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Asked is the command that printed a list, as far as a prompt, a comment or the name of the
// file records it. It is nil for a command that prints a part: one with a selector, names, or
// a filter behind a pipe.
type Asked struct {
	// Resources are as they were typed: pods, po, ippools.crd.projectcalico.org.
	Resources []string
	// All is --all-namespaces; Namespace is --namespace, "" where the command has none.
	All       bool
	Namespace string
}

// askers print objects with get, beside the tools of managers.
var askers = []string{"kubectl", "oc"}

func asks(word string, tools []string) bool {
	return slices.Contains(askers, word) || slices.Contains(tools, word)
}

// harmless are the flags of get that leave no object out. The value is whether an argument
// follows.
//
// Source: k8s.io/kubectl/pkg/cmd/get, NewCmdGet (v1.37.2), and what managers' tools take.
var harmless = map[string]bool{
	"-o": true, "--output": true, "--context": true, "--kubeconfig": true, "--cluster": true, "--user": true, "--as": true, "--server": true, "-s": true,
	"--chunk-size": true, "--request-timeout": true, "--sort-by": true, "-v": true, "--v": true, "-c": true, "--config": true,
	"--show-managed-fields": false, "--ignore-not-found": false, "--allow-version-mismatch": false, "--insecure-skip-tls-verify": false, "--export": false,
}

// typed is what a word of a command without quotes, variables and patterns consists of.
var typed = regexp.MustCompile(`^[-A-Za-z0-9._,/:=@+]+$`)

// askedBy is what the words of a command ask for: nil if it does not print all objects of its
// resources, or is none of kubectl's, oc's or one of the tools.
func askedBy(words, tools []string) *Asked {
	i := slices.IndexFunc(words, func(w string) bool { return asks(strings.TrimSuffix(path.Base(w), ".exe"), tools) })
	if i < 0 {
		return nil
	}
	words = words[i+1:]
	out, get := &Asked{}, false
	for i := 0; i < len(words); i++ {
		w := words[i]
		if passes(words[i:]) {
			break
		}
		flag, value, has := strings.Cut(w, "=")
		takes, known := harmless[flag]
		switch {
		case !typed.MatchString(w):
			if strings.HasPrefix(w, "2>") {
				continue
			}
			return nil
		case w == "-A", w == "--all-namespaces", w == "--all-namespaces=true", w == "-a":
			out.All = true
		case flag == "-n" || flag == "--namespace":
			if !has && i+1 < len(words) {
				i++
				value = words[i]
			}
			if out.Namespace = value; value == "" || !typed.MatchString(value) {
				return nil
			}
		case strings.HasPrefix(w, "-n") && !strings.HasPrefix(w, "--"):
			out.Namespace = w[2:]
		case known:
			if takes && !has {
				if i++; i < len(words) && !typed.MatchString(words[i]) {
					return nil // yaml|head
				}
			}
		case strings.HasPrefix(w, "-oyaml"), strings.HasPrefix(w, "-ojson"):
		case strings.HasPrefix(w, "-"):
			return nil // a selector, or an unknown flag
		case !get:
			if get = w == "get"; !get {
				return nil
			}
		case out.Resources != nil || strings.Contains(w, "/"):
			return nil // names
		default:
			out.Resources = strings.Split(strings.ToLower(w), ",")
		}
	}
	if !get || len(out.Resources) == 0 {
		return nil
	}
	return out
}

// passes reports whether words are a pipe into a program that changes nothing of what it
// shows.
func passes(words []string) bool {
	return len(words) >= 2 && words[0] == "|" && slices.Contains([]string{"tee", "cat", "less", "more"}, words[1]) && !slices.Contains(words[1:], "|")
}

// nameWords cut the name of a file; unsaid are the words that add nothing.
var (
	nameWords = regexp.MustCompile(`[-_ +]+`)
	number    = regexp.MustCompile(`^[0-9][0-9TZ.:]*$`)
	ending    = regexp.MustCompile(`(?i)(\.(ya?ml|json|txt|out|log))+$`)
	unsaid    = []string{"o", "yaml", "json", "oyaml", "ojson"}
)

// AskedByName is the command that the name of a file spells, e.g. kubectl-get-pods-A.yaml or
// "kubectl get pods --all-namespaces -o yaml.txt"; nil for any other name.
func AskedByName(file string, tools []string) *Asked {
	words := nameWords.Split(ending.ReplaceAllString(path.Base(file), ""), -1)
	if len(words) < 3 || !asks(words[0], tools) || words[1] != "get" {
		return nil
	}
	out := &Asked{}
	for i := 2; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "A":
			out.All = true
		case w == "all" && i+1 < len(words) && words[i+1] == "namespaces":
			out.All, i = true, i+1
		case slices.Contains(unsaid, w) || number.MatchString(w):
		case out.Resources != nil:
			return nil
		default:
			out.Resources = strings.Split(strings.ToLower(w), ",")
		}
	}
	if len(out.Resources) == 0 {
		return nil
	}
	return out
}
