// Package live reads a running cluster, as kubectl get would: what an address
// manager's state hangs on, list by list and page by page, and nothing else. It
// sends the API server GET requests only; a credential plugin that the kubeconfig
// names is run on this machine, as kubectl runs it.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// pageMax is the number of objects in a page, kubectl's own default.
//
// Source: k8s.io/kubectl/pkg/cmd/get, chunk-size.
const pageMax = 500

// answerMax bounds the bytes of one page: 500 objects of the size that etcd takes.
const answerMax = 500 * 3 << 19

// patience is how long one page may take.
const patience = time.Minute

// Progress is what has been read so far.
type Progress struct {
	Kind    string // e.g. pods
	Objects int    // of all kinds
}

// Cluster is a running cluster.
type Cluster struct {
	host   *url.URL
	client *http.Client
}

// Open reads a kubeconfig. An empty kubeContext is the file's current one.
//
// Credentials are used as kubectl uses them: what the kubeconfig names is executed,
// if it names a plugin.
func Open(kubeconfig, kubeContext string) (*Cluster, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: kubeContext}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kubeconfig, err)
	}
	return open(cfg)
}

func open(cfg *rest.Config) (*Cluster, error) {
	host, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, err
	}
	if host.Scheme != "https" && !loopback(host.Hostname()) {
		return nil, fmt.Errorf("%s: want https: otherwise credentials are sent in clear text", host)
	}
	cfg.UserAgent, cfg.Timeout = "ipamsim", patience
	c := &Cluster{host: host}
	if c.client, err = rest.HTTPClientFor(cfg); err != nil {
		return nil, err
	}
	return c, nil
}

// String is the address of its API server.
func (c *Cluster) String() string { return c.host.Host }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Read adds the cluster's objects to d. Forbidden resources are reported to d and skipped. It
// returns an error if no list can be read, or the server does not answer. progress may be nil.
func (c *Cluster) Read(ctx context.Context, d *dump.Cluster, progress func(Progress)) error {
	r := &reading{Cluster: c, dump: d, progress: progress}
	groups, err := r.groups(ctx)
	if err != nil {
		return err
	}
	d.Source(c.host.Host)
	all := dump.Resources(d.Managers())
	for i := range all {
		l := listOf(&all[i])
		if !groups[l.Group()] || l.By == dump.Tool || l.By == dump.Second && groups[l.First] || l.nowhere(d) {
			continue
		}
		var no *refusal
		switch err := r.list(ctx, l); {
		case err == nil:
			d.Complete(l.APIVersion, l.Kind)
		case errors.As(err, &no) && no.Code == http.StatusNotFound: // its group has no such kind here
		case no != nil:
			d.Unread(l.Plural+" of the cluster could not be read", no.Error())
			r.refused = append(r.refused, no)
		default:
			return err
		}
	}
	if r.objects == 0 && len(r.refused) > 0 {
		return r.refused[0]
	}
	return nil
}

// at adds the place in the cluster to an error. Errors about an object have it already.
func (r *reading) at(l list, err error) error {
	if errors.As(err, new(*strict.Error)) {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s%s: %w", r.host.Host, l.path, err)
}

// list is one kind of object, and where the API server has it.
type list struct {
	*dump.Resource
	path string
}

func listOf(r *dump.Resource) list {
	path := "/api/" + r.APIVersion
	if r.Group() != "" {
		path = "/apis/" + r.APIVersion
	}
	if r.Namespace != "" {
		path += "/namespaces/" + r.Namespace
	}
	return list{r, path + "/" + r.Plural}
}

// nowhere reports whether the cluster, whose namespaces were read, does not have that of the
// object: a role that allows to read it could not be made.
func (l list) nowhere(d *dump.Cluster) bool {
	return l.Namespace != "" && len(d.Namespaces) > 0 && d.SawAll("namespaces") && d.Namespaces[l.Namespace] == nil
}

// reading is one pass over the lists.
type reading struct {
	*Cluster
	dump     *dump.Cluster
	progress func(Progress)
	objects  int
	refused  []error
}

// groups are the API groups that the server has, the core group among them.
func (r *reading) groups(ctx context.Context) (map[string]bool, error) {
	body, err := r.get(ctx, "/apis", nil)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var answer struct {
		Groups []struct {
			Name string `json:"name"`
		} `json:"groups"`
	}
	if err := json.NewDecoder(io.LimitReader(body, answerMax)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s: /apis is not a list of API groups: %w", r.host.Host, err)
	}
	out := map[string]bool{"": true}
	for _, g := range answer.Groups {
		out[g.Name] = true
	}
	return out, nil
}

// list reads one list, page by page. A page that has expired while the list was
// read is gone on with as of a later time, where the server offers that.
func (r *reading) list(ctx context.Context, l list) error {
	next, origin := "", dump.Origin{File: r.host.Host + l.path}
	for first := true; first || next != ""; first = false {
		q := url.Values{"limit": {strconv.Itoa(pageMax)}}
		if l.Only != "" {
			q.Set("fieldSelector", "metadata.name="+l.Only)
		}
		if next != "" {
			q.Set("continue", next)
		}
		body, err := r.get(ctx, l.path, q)
		var gone *refusal
		if errors.As(err, &gone) && gone.Code == http.StatusGone && gone.Metadata.Continue != "" && gone.Metadata.Continue != next {
			r.dump.Unread(l.Plural+" were not read at one instant", "the list expired while it was read; the rest is newer")
			next = gone.Metadata.Continue
			continue
		}
		if err != nil {
			return err
		}
		if next, err = r.page(body, l, origin); err != nil {
			return r.at(l, err)
		}
	}
	return nil
}

// page reads the objects of one answer, and returns where the next one begins.
func (r *reading) page(body io.ReadCloser, l list, origin dump.Origin) (next string, err error) {
	defer body.Close()
	dec := json.NewDecoder(io.LimitReader(body, answerMax))
	if err := expect(dec, json.Delim('{')); err != nil {
		return "", err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", err
		}
		switch key {
		case "metadata":
			var meta struct{ Continue, ResourceVersion string }
			if err := dec.Decode(&meta); err != nil {
				return "", err
			}
			next = meta.Continue
			r.dump.Listed(meta.ResourceVersion)
		case "items":
			if err := r.items(dec, l, origin); err != nil {
				return "", err
			}
		default:
			if err := dec.Decode(new(json.RawMessage)); err != nil {
				return "", err
			}
		}
	}
	return next, expect(dec, json.Delim('}'))
}

func (r *reading) items(dec *json.Decoder, l list, origin dump.Origin) error {
	start, err := dec.Token()
	if err != nil || start == nil { // a list without items may say null
		return err
	}
	if start != json.Delim('[') {
		return fmt.Errorf("items is not a list")
	}
	for dec.More() {
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return err
		}
		if err := r.dump.Add(origin, l.typed(item)); err != nil {
			return err
		}
		r.objects++
		if r.progress != nil {
			r.progress(Progress{Kind: l.Plural, Objects: r.objects})
		}
	}
	return expect(dec, json.Delim(']'))
}

// typed is an item with apiVersion and kind, which a list of Kubernetes' own kinds
// leaves out.
func (l list) typed(item json.RawMessage) json.RawMessage {
	var has struct{ APIVersion, Kind string }
	if json.Unmarshal(item, &has) != nil || has.Kind != "" {
		return item
	}
	head := fmt.Sprintf(`{"apiVersion":%q,"kind":%q`, l.APIVersion, l.Kind)
	if rest := strings.TrimSpace(string(item[1:])); rest != "}" {
		head += ","
	}
	return append(json.RawMessage(head), item[1:]...)
}

func expect(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if err == nil && got != want {
		err = fmt.Errorf("want %v, have %v", want, got)
	}
	return err
}
