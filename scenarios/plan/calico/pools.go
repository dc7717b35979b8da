package calico

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/plan"
	"ipamsim/sim/cluster"
)

// poolManifest is an IPPool's manifest while settings change it.
type poolManifest struct {
	object cluster.Object
	body   plan.Body
	prefix netip.Prefix
	sized  bool // its blocks have the size that the plan says for this pool
}

func (p *poolManifest) spec() plan.Body { return plan.Under(p.body, "spec") }

func (p *poolManifest) four() bool { return p.prefix.Addr().Is4() }

// place gives the pool an address.
func (p *poolManifest) place(at netip.Prefix) {
	p.prefix = at
	p.spec()["cidr"] = at.String()
}

// text of a field of the pool's.
func (p *poolManifest) text(field string) string {
	s, _ := p.spec()[field].(string)
	return s
}

// chosen renders the selectors of the pool; "": it serves all.
func (p *poolManifest) chosen() string {
	for _, field := range []string{"nodeSelector", "namespaceSelector"} {
		if s := p.text(field); s != "" && s != "all()" {
			return field + " " + s
		}
	}
	if p.text("assignmentMode") == "Manual" {
		return "assignmentMode Manual"
	}
	return ""
}

// called gives the pool a name.
func (p *poolManifest) called(name string) {
	p.object.Name = name
	plan.Under(p.body, "metadata")["name"] = name
}

// like is a copy of the manifest under another name and address.
func (p *poolManifest) like(name string, at netip.Prefix) (*poolManifest, error) {
	out := &poolManifest{object: p.object}
	text, err := json.Marshal(p.body)
	if err == nil {
		out.object.Body = text
		out.body, err = plan.OpenManifest(out.object)
	}
	if err != nil {
		return nil, err
	}
	out.called(name)
	out.place(at)
	return out, nil
}

func (p *poolManifest) close() (o cluster.Object, err error) {
	p.object.Body, err = json.Marshal(p.body)
	return p.object, err
}

// poolManifests are those of all pools, in their order, and the other objects.
func poolManifests(all []cluster.Object) (pools []*poolManifest, rest []cluster.Object, err error) {
	for _, o := range all {
		if o.Kind != poolKind {
			rest = append(rest, o)
			continue
		}
		p := &poolManifest{object: o}
		if p.body, err = plan.OpenManifest(o); err != nil {
			return nil, nil, err
		}
		prefix, _ := netip.ParsePrefix(p.text("cidr")) // not valid: loading has refused it
		p.prefix = prefix.Masked()
		pools = append(pools, p)
	}
	return pools, rest, nil
}

// poolSettings are those that change pools, the ones first that a refused pool is most
// likely due to.
var poolSettings = []string{"blockSize", "poolSize", "resizePool", "addPool", "pool", "removePool"}

// withPools changes the pools as the settings say. The error is a *plan.Mistake where a
// setting does not fit the pools that there are.
func (d draft) withPools(all []cluster.Object) ([]cluster.Object, error) {
	if !slices.ContainsFunc(poolSettings, func(name string) bool { return d.Given(name) }) {
		return all, nil
	}
	pools, rest, err := poolManifests(all)
	if err != nil {
		return nil, err
	}
	for _, change := range []func([]*poolManifest) ([]*poolManifest, error){d.placed, d.added, d.removed, d.resized, d.divided} {
		if pools, err = change(pools); err != nil {
			return nil, err
		}
	}
	for _, p := range pools {
		o, err := p.close()
		if err != nil {
			return nil, err
		}
		rest = append(rest, o)
	}
	return rest, nil
}

// draft is a draft of a Calico plan.
type draft struct{ *plan.Draft }

// pools is the setting pool.
func (d draft) pools() addresses {
	out, _ := plan.Value[addresses](d.Draft, "pool")
	return out
}

// list of a setting, nil if it is not given.
func list[T any](d draft, name string) []T {
	out, _ := plan.Value[[]T](d.Draft, name)
	return out
}

// placed is the setting pool.
func (d draft) placed(pools []*poolManifest) ([]*poolManifest, error) {
	for name, at := range sorted(d.pools().named) {
		p, err := find(pools, "pool", name)
		if err == nil {
			err = p.moves("pool", at)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(pools) == 0 {
		return firstPools(d.pools().list)
	}
	if d.pools().list == nil {
		return pools, nil
	}
	if n := len(d.pools().list); n != len(pools) {
		return nil, &plan.Mistake{Setting: "pool", Problem: fmt.Sprintf("%s, but the cluster has %s: addPool adds a pool, removePool removes one, pool: {%s: CIDR} moves one",
			count(n, "CIDR"), counted(pools), pools[0].object.Name)}
	}
	for i, p := range pools {
		if who := p.chosen(); who != "" && len(pools) > 1 {
			return nil, &plan.Mistake{Setting: "pool", Problem: fmt.Sprintf("%s has a selector (%s): name the pools, pool: {%s: CIDR}", p.object.Name, who, p.object.Name)}
		}
		if err := p.moves("pool", d.pools().list[i]); err != nil {
			return nil, err
		}
	}
	return pools, nil
}

// moves gives a pool an address of the same family.
func (p *poolManifest) moves(setting string, at netip.Prefix) error {
	if p.prefix.IsValid() && at.Addr().Is4() != p.four() {
		return &plan.Mistake{Setting: setting, Problem: fmt.Sprintf("%s is %s, but %s is of the other family", p.object.Name, p.prefix, at)}
	}
	p.place(at)
	return nil
}

// firstPools are those of a plan without any manifest of a pool.
func firstPools(list []netip.Prefix) (out []*poolManifest, err error) {
	for i, at := range list {
		name := defaultPool
		if i > 0 {
			name = fmt.Sprintf("%s-%d", defaultPool, i+1)
		}
		p := &poolManifest{}
		p.object, err = plan.Manifest(crdVersion, poolKind, "", name, plan.Body{"ipipMode": "Never", "vxlanMode": "Never", "natOutgoing": true, "nodeSelector": "all()"})
		if err == nil {
			p.body, err = plan.OpenManifest(p.object)
		}
		if err != nil {
			return nil, err
		}
		p.place(at)
		out = append(out, p)
	}
	return out, nil
}

// removed is the setting removePool.
func (d draft) removed(pools []*poolManifest) ([]*poolManifest, error) {
	for _, name := range list[string](d, "removePool") {
		p, err := find(pools, "removePool", name)
		if err != nil {
			return nil, err
		}
		if len(pools) == 1 {
			return nil, &plan.Mistake{Setting: "removePool", Problem: name + " is the only pool: add a replacement with addPool"}
		}
		pools = slices.DeleteFunc(slices.Clone(pools), func(x *poolManifest) bool { return x == p })
	}
	return pools, nil
}

// added is the setting addPool.
func (d draft) added(pools []*poolManifest) ([]*poolManifest, error) {
	for _, x := range list[newPool](d, "addPool") {
		for _, p := range pools {
			if p.object.Name == x.Name {
				return nil, &plan.Mistake{Setting: "addPool", Problem: fmt.Sprintf("pool %s already exists: change it with resizePool and pool", x.Name)}
			}
			if p.prefix.Overlaps(x.Prefix) {
				return nil, &plan.Mistake{Setting: "addPool", Problem: fmt.Sprintf("%s overlaps pool %s, %s", x.Prefix, p.object.Name, p.prefix)} // even over one that goes
			}
		}
		p, err := d.made(pools, &x)
		if err != nil {
			return nil, err
		}
		pools = append(pools, p)
	}
	return pools, nil
}

// made is a pool that is added, as the first one of its family, but for everybody.
func (d draft) made(pools []*poolManifest, x *newPool) (*poolManifest, error) {
	model := slices.IndexFunc(pools, func(p *poolManifest) bool { return p.four() == x.Prefix.Addr().Is4() && p.chosen() == "" })
	name := x.Name
	if name == "" {
		name = unused(pools, defaultPool)
	}
	if model < 0 {
		all, err := firstPools([]netip.Prefix{x.Prefix})
		if err != nil {
			return nil, err
		}
		all[0].called(name)
		pools, model = all, 0
	} else if x.Name == "" {
		name = unused(pools, pools[model].object.Name)
	}
	p, err := pools[model].like(name, x.Prefix)
	if err != nil {
		return nil, err
	}
	delete(p.spec(), "disabled")
	if x.Selector != "" {
		p.spec()["nodeSelector"] = x.Selector
	}
	if x.BlockSize > 0 {
		p.spec()["blockSize"], p.sized = x.BlockSize, true
	}
	return p, nil
}

// unused is a name that no pool has.
func unused(pools []*poolManifest, name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(pools, func(p *poolManifest) bool { return p.object.Name == name })
	}
	for n := 2; ; n++ {
		if out := fmt.Sprintf("%s-%d", name, n); !taken(out) {
			return out
		}
	}
}

// resized are the settings resizePool and poolSize.
func (d draft) resized(pools []*poolManifest) ([]*poolManifest, error) {
	resize, _ := plan.Value[map[string]int](d.Draft, "resizePool")
	for name, bits := range sorted(resize) {
		p, err := find(pools, "resizePool", name)
		if err == nil {
			err = p.resize("resizePool", bits)
		}
		if err != nil {
			return nil, err
		}
	}
	size, given := plan.Value[int](d.Draft, "poolSize")
	if !given || len(pools) == 0 {
		return pools, nil
	}
	if len(pools) > 1 && d.pools().list == nil {
		return nil, &plan.Mistake{Setting: "poolSize", Problem: fmt.Sprintf("ambiguous with %s; use resizePool: {%s: %d}", counted(pools), pools[0].object.Name, size)}
	}
	return pools, pools[0].resize("poolSize", size)
}

func (p *poolManifest) resize(setting string, bits int) error {
	if bits > p.prefix.Addr().BitLen() {
		return &plan.Mistake{Setting: setting, Problem: fmt.Sprintf("/%d: pool %s is %s", bits, p.object.Name, p.prefix)}
	}
	p.place(netip.PrefixFrom(p.prefix.Addr(), bits).Masked())
	return nil
}

// divided applies the setting blockSize. The size of a family does not apply to disabled pools.
func (d draft) divided(pools []*poolManifest) ([]*poolManifest, error) {
	blocks, _ := plan.Value[blockSizes](d.Draft, "blockSize")
	for _, f := range []struct {
		bits int
		four bool
		name string
	}{{blocks.four, true, "IPv4"}, {blocks.six, false, "IPv6"}} {
		found := f.bits == 0
		for _, p := range pools {
			if disabled, _ := p.spec()["disabled"].(bool); !disabled && p.four() == f.four && f.bits > 0 {
				if found = true; !p.sized {
					p.spec()["blockSize"] = f.bits
				}
			}
		}
		if !found {
			return nil, &plan.Mistake{Setting: "blockSize", Problem: fmt.Sprintf("/%d is a size of %s blocks, but no %s pool is enabled", f.bits, f.name, f.name)}
		}
	}
	for name, bits := range sorted(blocks.named) {
		p, err := find(pools, "blockSize", name)
		if err != nil {
			return nil, err
		}
		if p.four() != (bits <= fourMost) {
			return nil, &plan.Mistake{Setting: "blockSize", Problem: fmt.Sprintf("pool %s is %s: its blocks cannot be /%d", name, p.prefix, bits)}
		}
		p.spec()["blockSize"] = bits
	}
	return pools, nil
}

// sorted walks over a mapping in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// find the pool that a setting names.
func find(pools []*poolManifest, setting, name string) (*poolManifest, error) {
	for _, p := range pools {
		if p.object.Name == name {
			return p, nil
		}
	}
	return nil, &plan.Mistake{Setting: setting, Problem: fmt.Sprintf("there is no pool %q, the cluster has %s", name, counted(pools))}
}

// counted are the pools in words: 2 IPPools (a, b).
func counted(pools []*poolManifest) string {
	var names []string
	for _, p := range pools {
		names = append(names, p.object.Name)
	}
	if len(names) == 0 {
		return "no IPPool"
	}
	return count(len(names), "IPPool") + " (" + strings.Join(names, ", ") + ")"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
