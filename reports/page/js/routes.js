// The routing table of one node, as "ip route" prints it.
const routesTable = tableIndex('routes');
const routeNode = column(routesTable, 'node'), routeText = column(routesTable, 'route', 'text'), routeTo = column(routesTable, 'destination');

// The node to begin with: one that the gravest violation says cannot reach something.
function firstNode(nodes) {
  const told = gravest ? nodes.map((n) => [gravest.message.indexOf(n), n]).filter(([i]) => i >= 0).sort((a, b) => a[0] - b[0]) : [];
  return told.length ? told[0][1] : nodes[0] || '';
}

function makeRoutes() {
  byId('routespanel').hidden = routesTable < 0;
  if (routesTable < 0) return;
  const nodes = new Set();
  for (const f of film.frames) for (const c of f.changes || []) if (c.t === routesTable && c.r) nodes.add(c.r[routeNode]);
  const names = [...nodes].sort(order);
  byId('node').replaceChildren(...names.map((n) => el('option', { value: n }, n)));
  if (!names.includes(state.node)) state.node = firstNode(names);
  byId('node').value = state.node;
  byId('node').addEventListener('change', (e) => go({ node: e.target.value }));
}

let routesAll = false;
function showRoutes() {
  if (routesTable < 0) return;
  const node = byId('node');
  if (state.node && node.value !== state.node) node.value = state.node;
  const rows = tableRows(routesTable).map((r) => [r, scene.rows[routesTable].get(r.key) || (scene.delta.find((d) => d.t === routesTable && d.key === r.key) || {}).old])
    .filter(([, cells]) => cells && cells[routeNode] === state.node)
    .map(([r, cells]) => {
      const text = cells[routeText], black = text.startsWith('blackhole');
      return { mark: r.mark, to: cells[routeTo], black, cells: [el('code', {}, text), black ? el('strong', {}, 'swallows what has no route of its own') : ''] };
    });
  byId('routes').replaceChildren(...makeTable('Routing table of ' + state.node + ' at step ' + state.step, ['Route', ''], rows, routesAll, () => { routesAll = true; showRoutes(); }));
}
