// The routing table of one node, as "ip route" prints it, and "ip -6 route".
const routesTable = tableIndex('routes');
const routeNode = column(routesTable, 'node'), routeTo = column(routesTable, 'destination'), routeText = column(routesTable, 'route');

// The node to begin with: one that the gravest violation is about.
function firstNode(nodes) {
  return nodes.find((n) => concerned.has(n)) || nodes[0] || '';
}

let nodeAtFirst = '';
function makeRoutes() {
  byId('routespanel').hidden = routesTable < 0;
  if (routesTable < 0) return;
  const nodes = new Set();
  for (const f of film.frames) for (const c of f.changes || []) if (c.t === routesTable && c.r) nodes.add(c.r[routeNode]);
  const names = [...nodes].sort(order);
  byId('node').replaceChildren(...names.map((n) => el('option', { value: n }, n)));
  nodeAtFirst = firstNode(names);
  if (!nodes.has(state.node)) state.node = '';
  byId('node').addEventListener('change', (e) => go({ node: e.target.value }));
}

// routesOf are the tables of the families that the node has routes of.
function routesOf(node, rows) {
  const both = rows.every((r) => r.length);
  return rows.flatMap((r, six) => (r.length || (!six && !rows[1].length) ? [
    ...(both ? [el('h4', {}, six ? 'IPv6' : 'IPv4')] : []),
    ...makeTable((both ? (six ? 'IPv6 routing' : 'IPv4 routing') : 'Routing') + ' table of ' + node + ' at step ' + state.step, ['Route', ''], r, routesAll, () => { routesAll = true; showRoutes(); }),
  ] : []));
}

let routesAll = false;
function showRoutes() {
  if (routesTable < 0) return;
  const node = state.node || nodeAtFirst;
  byId('node').value = node;
  const was = new Map(scene.delta.filter((d) => d.t === routesTable && d.old).map((d) => [d.key, d.old]));
  const rows = [[], []]; // of IPv4 and of IPv6
  for (const r of tableRows(routesTable, (cells) => cells[routeNode] === node)) {
    const cells = scene.rows[routesTable].get(r.key) || was.get(r.key);
    const text = cells[routeText];
    const code = r.mark === 'changed' ? el('code', {}, el('del', {}, was.get(r.key)[routeText]), '\n', el('ins', {}, text)) : el('code', {}, text);
    rows[Number(ofSix(cells[routeTo]))].push({ mark: r.mark, cells: [code, text.startsWith('blackhole') ? el('strong', {}, 'drops packets without a more specific route') : ''] });
  }
  const lost = reachTable < 0 ? [] : [...scene.rows[reachTable].values()].filter((c) => c[column(reachTable, 'from')] === node)
    .map((c) => el('li', { class: 'hurt' }, '✗ ' + c[column(reachTable, 'addresses')] + ' on ' + c[column(reachTable, 'to')] + ': ' + arrows(c[column(reachTable, 'why')])));
  byId('routes').replaceChildren(...(lost.length ? [el('p', {}, 'Not reachable from this node:'), el('ul', { class: 'facts' }, ...lost.slice(0, 20))] : []), ...routesOf(node, rows));
}
