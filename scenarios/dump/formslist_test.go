package dump_test

import (
	"fmt"
	"strings"
)

// one is a form of one file.
func one(name, file, text string) form { return form{name: name, files: pasted{file: text}} }

// unsure is a form of one file that does not show that it has all pods.
func unsure(name, file, text string) form {
	return form{name: name, files: pasted{file: text}, unsure: true}
}

// refused is a form that cannot be read.
func refused(name, file, text, want string) form {
	return form{name: name, files: pasted{file: text}, want: want}
}

// forms are all ways to paste the leak.
func forms() []form {
	all := append(printedForms(), promptForms()...)
	all = append(all, changedForms()...)
	return append(append(all, bundleForms()...), refusedForms()...)
}

// printedForms are what tools print.
func printedForms() []form {
	typed := func(l list) string { return yamlOf(l.of(l.kind + "List")) }
	return []form{
		unsure("YAML", "dump.yaml", plain()),
		unsure("YAML, one command after the other", "dump.yaml", each(func(_ int, l list) string { return yamlOf(l.of("List")) })),
		unsure("YAML, one list", "dump.yaml", yamlOf(everything())),
		unsure("YAML, one object a document", "dump.yaml", each(func(_ int, l list) string { return "---\n" + joined(l, yamlOf, "---\n") })),
		unsure("YAML, entries alone", "dump.yaml", each(func(_ int, l list) string { return yamlOf(l.items) })),
		one("YAML, headings", "dump.yaml", after(func(l list) string { return "--- # " + l.resource })),
		unsure("YAML, typed lists, kind last", "dump.yaml", each(func(_ int, l list) string { return typed(l) + "---\n" })),
		unsure("YAML, typed lists, items first", "dump.yaml", each(func(_ int, l list) string {
			return strings.Replace(typed(l), "apiVersion: "+l.apiVersion+"\n", "", 1) + "apiVersion: " + l.apiVersion + "\n---\n"
		})),
		unsure("JSON", "dump.json", each(func(_ int, l list) string { return jsonOf(l.of("List")) })),
		unsure("JSON, one list", "dump.json", jsonOf(everything())),
		unsure("JSON, one line", "dump.json", compactOf(everything())),
		unsure("JSON, one object a line", "dump.jsonl", each(func(_ int, l list) string { return joined(l, compactOf, "") })),
		unsure("JSON, arrays", "dump.json", each(func(_ int, l list) string { return jsonOf(l.items) })),
		unsure("JSON, typed lists, kind last", "dump.json", each(func(_ int, l list) string { return jsonOf(l.of(l.kind + "List")) })),
		unsure("JSON and YAML", "dump.txt", each(func(i int, l list) string {
			if i%2 == 0 {
				return jsonOf(l.of("List"))
			}
			return yamlOf(l.of("List"))
		})),
		unsure("cluster-info dump", "dump.txt", clusterInfo()),
		one("etcdctl", "etcd.txt", etcdSimple()),
		one("etcdctl -w json", "etcd.txt", etcdJSON()),
		one("etcdctl -w fields", "etcd.txt", etcdFields()),
		one("calicoctl ipam check -o", "dump.txt", etcdWith(jsonOf(report()))),
		one("calicoctl ipam check -o alone", "report.json", jsonOf(report())),
		one("calicoctl ipam check --show-all-ips", "dump.txt", etcdWith("$ calicoctl ipam check --show-all-ips\n"+checkText)),
	}
}

// everything is one list of all kinds.
func everything() object {
	var items []object
	for _, l := range leak() {
		items = append(items, l.items...)
	}
	return list{items: items}.of("List")
}

// joined are the objects of a list, one after the other.
func joined(l list, print func(any) string, between string) string {
	var all []string
	for _, o := range l.items {
		all = append(all, print(o))
	}
	return strings.Join(all, between)
}

// promptForms are logs of terminals.
func promptForms() []form {
	var out []form
	for _, prompt := range []string{
		"$ ", "# ", "% ", "> ", "[root@bastion ~]# ", "[core@master-0 ~]$ ", "user@host:~$ ", "root@host:/etc/kubernetes# ", "host:~ user$ ", "host:/root # ",
		"PS C:\\Users\\me> ", "C:\\>", "(venv) user@host dir % ", "❯ ", "bash-5.1$ ", "[10:23:01] me@host ~ $ ", "➜  ~ ", "me@host ~/k8s (prod|default) $ ",
	} {
		out = append(out, one("prompt "+prompt, "terminal.log", prompted(prompt)))
	}
	const memcache = `E1001 10:12:03.123456    4242 memcache.go:287] "Unhandled Error" err="couldn't get resource list for metrics.k8s.io/v1beta1: the server is currently unable to handle the request"`
	return append(out,
		one("commands without a prompt", "terminal.log", after(func(l list) string { return l.kubectl() })),
		one("sh -x", "terminal.log", after(func(l list) string { return "+ " + l.kubectl() })),
		unsure("prompts alone", "terminal.log", after(func(list) string { return "$" })),
		one("oc, sudo, paths", "terminal.log", after(func(l list) string { return "$ sudo /usr/local/bin/oc get " + l.resource + " -A -o yaml" })),
		one("commands on two lines", "terminal.log", after(func(l list) string { return "$ kubectl get " + l.resource + " \\\n>   -A -o yaml" })),
		one("other commands between", "terminal.log", after(func(l list) string {
			return "$ date\nWed Oct  1 10:00:00 UTC 2025\n$ kubectl get pods\nNAME   READY   STATUS\ndu-1   1/1     Running\n$ " + l.kubectl()
		})),
		one("memcache.go", "dump.yaml", after(func(l list) string { return "$ " + l.kubectl() + "\n" + memcache })),
		one("memcache.go inside", "dump.yaml", lined(dumped(), func(n int, line string) string {
			if line == "kind: List" {
				return memcache + "\n" + line
			}
			return line
		})),
		unsure("warnings", "dump.yaml", after(func(list) string {
			return "Warning: v1 ComponentStatus is deprecated in v1.19+\nNo resources found in default namespace."
		})),
		one("forbidden", "dump.yaml", dumped()+"--- # ipamconfigs.crd.projectcalico.org\nError from server (Forbidden): ipamconfigs.crd.projectcalico.org is forbidden: User \"dev\" cannot list resource \"ipamconfigs\" in API group \"crd.projectcalico.org\" at the cluster scope\n"),
		one("no resource type", "dump.yaml", after(func(l list) string {
			return "$ kubectl get adminnetworkpolicies -o yaml\nerror: the server doesn't have a resource type \"adminnetworkpolicies\"\n$ " + l.kubectl()
		})),
	)
}

// changedForms are what mail, chats, editors and terminals make of the text.
func changedForms() []form {
	prefixed := func(prefix string) func(int, string) string {
		return func(_ int, line string) string { return prefix + line }
	}
	quote := func(text string) string {
		return lined(text, func(_ int, line string) string { return strings.TrimRight("> "+line, " ") })
	}
	fenced := func(fence string) string {
		return "Here is all I have: the pods hang\n\n" + each(func(_ int, l list) string {
			return "## " + l.resource + "\n" + fence + "yaml\n" + yamlOf(l.of("List")) + fence + "\n\nand then, Note: it is slow\n\n"
		})
	}
	colour := func(_ int, line string) string {
		k, v, ok := strings.Cut(line, ":")
		if !ok {
			return "\x1b[33m" + line + "\x1b[0m"
		}
		return "\x1b[36m" + k + "\x1b[0m:\x1b[1;33m" + v + "\x1b[0m"
	}
	return []form{
		unsure("Markdown fences", "issue.md", fenced("```")),
		unsure("Markdown fences ~~~", "issue.md", fenced("~~~")),
		one("Markdown, indented", "issue.md", "The nodes:\n\n"+lined(dumped(), prefixed("    "))+"\nThank you\n"),
		one("Markdown fences, with the commands", "issue.md", each(func(_ int, l list) string {
			return "```\n$ " + l.kubectl() + "\n" + yamlOf(l.of("List")) + "```\n\nand then\n\n"
		})),
		unsure("Jira", "issue.txt", each(func(_ int, l list) string { return "{code:yaml}\n" + yamlOf(l.of("List")) + "{code}\n" })),
		unsure("details of GitHub", "issue.md", each(func(_ int, l list) string {
			return "<details><summary>" + l.resource + "</summary>\n\n```\n" + yamlOf(l.of("List")) + "```\n\n</details>\n"
		})),
		one("Windows line ends", "dump.yaml", strings.ReplaceAll(dumped(), "\n", "\r\n")),
		unsure("Windows line ends, JSON", "dump.json", strings.ReplaceAll(jsonOf(everything()), "\n", "\r\n")),
		one("byte order mark", "dump.yaml", "\ufeff"+dumped()),
		one("PowerShell's >", "dump.yaml", utf16Of(dumped())),
		one("indented by 2", "dump.yaml", lined(dumped(), prefixed("  "))),
		one("indented but the first line", "dump.yaml", strings.TrimLeft(lined(dumped(), prefixed("      ")), " ")),
		one("quoted", "mail.txt", "On Monday Ann wrote:\n"+quote(dumped())+"\nHere it is.\n"),
		one("quoted twice", "mail.txt", quote(quote(dumped()))),
		one("quoted without a blank", "mail.txt", lined(dumped(), prefixed(">"))),
		unsure("quoted JSON", "mail.txt", quote(jsonOf(everything()))),
		one("quoted terminal", "mail.txt", quote(prompted("$ "))),
		one("cat -n", "dump.txt", lined(dumped(), func(n int, line string) string { return fmt.Sprintf("%6d\t%s", n, line) })),
		one("numbers of an editor", "dump.txt", lined(dumped(), func(n int, line string) string { return fmt.Sprintf("%4d %s", n, line) })),
		one("grep -n", "dump.txt", lined(dumped(), func(n int, line string) string { return fmt.Sprintf("%d:%s", n, line) })),
		one("times of a CI log", "job.log", lined(prompted("$ "), prefixed("2025-10-01T10:00:00.1234567Z "))),
		one("tabs of unexpand", "dump.yaml", lined(dumped(), func(_ int, line string) string {
			text := strings.TrimLeft(line, " ")
			n := len(line) - len(text)
			return strings.Repeat("\t", n/8) + strings.Repeat(" ", n%8) + text
		})),
		one("a tab a level", "dump.yaml", lined(dumped(), func(_ int, line string) string {
			text := strings.TrimLeft(line, " ")
			return strings.Repeat("\t", (len(line)-len(text))/2) + text
		})),
		one("blanks of a web page", "dump.yaml", lined(dumped(), func(_ int, line string) string {
			text := strings.TrimLeft(line, " ")
			return strings.Repeat("\u00a0", len(line)-len(text)) + text
		})),
		one("quotes of a word processor", "dump.yaml", strings.ReplaceAll(dumped(), `"4711"`, "\u201c4711\u201d")),
		unsure("byte order marks inside", "dump.yaml", each(func(_ int, l list) string { return "\ufeff" + yamlOf(l.of("List")) })),
		one("pages of more", "dump.yaml", lined(dumped(), func(n int, line string) string {
			if n%30 == 0 {
				return line + "\n--More--"
			}
			return line
		})),
		one("colours", "dump.yaml", lined(dumped(), colour)),
		one("title of a terminal", "typescript", "Script started on 2025-10-01\n"+prompted("\x1b]0;me@host: ~\x07[me@host ~]$ ")),
		one("ellipsis in a list", "dump.yaml", strings.Replace(dumped(), "- apiVersion: crd.projectcalico.org/v1\n  kind: IPPool", "- apiVersion: crd.projectcalico.org/v1\n  kind: IPPool", 1)+"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: w3\n...\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: w4\n  …\nkind: List\n"),
		one("a document that is damaged", "dump.yaml", dumped()+"apiVersion: v1\nkind: Secret\nmetadata:\n\tname: [\n---\n"),
	}
}

// bundleForms are folders and archives.
func bundleForms() []form {
	byName := func(l list) string { return l.resource + ".yaml" }
	print := func(l list) string { return yamlOf(l.of("List")) }
	folder := separate(byName, print)
	called := separate(func(l list) string { return "kubectl-get-" + l.resource + "-A.yaml" }, print)
	gather := inNamespaces()
	diags := separate(func(l list) string { return "calico-diagnostics-20251001_100000/cluster/" + l.resource + ".yaml" }, print)
	diags["calico-diagnostics-20251001_100000/cluster/nodes.txt"] = "NAME   STATUS   ROLES\nw1     Ready    worker\n"
	diags["calico-diagnostics-20251001_100000/nodes/w1/ip-route.txt"] = "default via 192.0.2.1 dev eth0\n"
	rancher := separate(func(l list) string { return "yamls/cluster/" + l.resource + ".yaml" }, print)
	rancher["nodes/w1/logs/kubelet.log"] = "I1001 10:00:00.000000 1 x.go:1] apiVersion: v1\n"
	troubleshoot := separate(func(l list) string { return "support-bundle/cluster-resources/" + l.resource + ".json" }, func(l list) string { return jsonOf(l.of(l.kind + "List")) })
	troubleshoot["support-bundle/cluster-resources/pods-errors.json"] = "null\n"
	troubleshoot["support-bundle/version.yaml"] = "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: 0.1\n"
	sos := separate(func(l list) string {
		return "sosreport-host/sos_commands/kubernetes/cluster-info/kubectl_get_-o_json_--all-namespaces_" + l.resource
	}, func(l list) string { return jsonOf(l.of("List")) })
	sos["sosreport-host/etc/hosts"] = "127.0.0.1 localhost\n"
	info := separate(func(l list) string { return "cluster-info/radio/" + l.resource + ".json" }, func(l list) string { return jsonOf(l.of(l.kind + "List")) })
	info["cluster-info/radio/du-1/logs.txt"] = "==== START logs for container c of pod radio/du-1 ====\napiVersion: x\n==== END logs\n"
	withBad := separate(byName, print)
	withBad["zzz.yaml"] = "apiVersion: v1\nkind: Pod\nmetadata: [\n"
	return []form{
		{name: "folder", files: folder, unsure: true},
		{name: "folder with a file that is damaged", files: withBad, unsure: true},
		{name: "must-gather", files: gather, unsure: true},
		unsure("must-gather.tar.gz", "must-gather.tar.gz", gzipOf(tarOf(gather))),
		unsure("tar", "dump.tar", tarOf(folder)),
		unsure("tgz", "dump.tgz", gzipOf(tarOf(folder))),
		unsure("zip", "dump.zip", zipOf(folder)),
		{name: "folder, files called by their commands", files: called},
		one("tgz, files called by their commands", "dump.tgz", gzipOf(tarOf(called))),
		one("gz", "dump.yaml.gz", gzipOf(dumped())),
		unsure("a tgz in a zip", "case.zip", zipOf(pasted{"upload/dump.tgz": gzipOf(tarOf(folder)), "readme.txt": "see upload"})),
		one("tgz of gz", "dump.tgz", gzipOf(tarOf(pasted{"a/dump.yaml.gz": gzipOf(dumped())}))),
		{name: "cluster-info dump, folder", files: info, unsure: true},
		unsure("calicoctl cluster diags", "calico-diagnostics.tar.gz", gzipOf(tarOf(diags))),
		unsure("support bundle of Rancher", "bundle.tgz", gzipOf(tarOf(rancher))),
		unsure("support bundle of Troubleshoot", "support-bundle.tar.gz", gzipOf(tarOf(troubleshoot))),
		one("sosreport", "sosreport.tar", tarOf(sos)),
	}
}

// refusedForms say too little.
func refusedForms() []form {
	return []form{
		refused("masked", "dump.yaml", strings.ReplaceAll(plain(), "10.10.0.", "10.xx.xx."), "is blacked out: write the real one or any other"),
		refused("masked by stars", "dump.yaml", strings.ReplaceAll(plain(), "10.10.0.", "10.**.**."), "is blacked out: write the real one or any other"),
		refused("cut off", "dump.yaml", strings.TrimSuffix(yamlOf(everything()), "kind: List\nmetadata:\n  resourceVersion: \"\"\n"), "dump.yaml:1: the list that begins here has no kind at its end: the file is cut off"),
		refused("cut off, JSON", "dump.json", jsonOf(everything())[:900], "ends in the middle: the file is cut off"),
		refused("a table", "pods.txt", "NAMESPACE   NAME   READY   STATUS\nradio       du-1   1/1     Running\n", "pods.txt:1: a table of kubectl, which omits most fields: add -o yaml"),
		refused("a page", "page.html", "<!DOCTYPE html>\n<html><body>apiVersion</body></html>\n", "page.html:1: looks like HTML"),
		refused("kubectl describe", "pods.txt", "Name:         du-1\nNamespace:    radio\nIP:  10.10.0.1\n", "pods.txt:1: want an object with apiVersion and kind"),
		refused("damaged xz", "dump.tar.xz", "\xfd7zXZ\x00abc", "dump.tar.xz: not read: xz: data is truncated or corrupt"),
		refused("prose", "note.txt", "The pods hang since Monday.\n", "note.txt:1: want an object"),
		{name: "a folder of logs", files: pasted{"a.log": "x\n", "b/c.txt": "y\n"}, want: "has no file to read: 2 files are of other kinds"},
	}
}
