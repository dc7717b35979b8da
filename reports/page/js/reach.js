// Which node reaches the addresses on which: a matrix, from the rows of the table of
// those that do not.
const reachTable = tableIndex('reach');
const nodesTable = tableIndex('nodes');
const matrixMax = 40;

function showReach() {
  byId('reachpanel').hidden = reachTable < 0;
  if (reachTable < 0) return;
  const [from, to, lost, why] = ['from', 'to', 'addresses', 'why'].map((c) => column(reachTable, c));
  const pairs = new Map();
  for (const cells of scene.rows[reachTable].values()) pairs.set(cells[from] + '\n' + cells[to], cells);
  const name = column(nodesTable, 'node', 'name'), up = column(nodesTable, 'up');
  const nodes = nodesTable < 0 ? [] : [...scene.rows[nodesTable].values()].map((c) => ({ name: c[name], down: up >= 0 && /^(no|false)$/.test(c[up]) }));
  for (const c of pairs.values()) for (const n of [c[from], c[to]]) if (!nodes.some((x) => x.name === n)) nodes.push({ name: n });
  nodes.sort((a, b) => order(a.name, b.name));
  const summary = pairs.size ? el('p', {}, el('strong', {}, '✗ ' + plural(pairs.size, 'pair') + ' of nodes: ' + (pairs.size === 1 ? 'one cannot reach addresses on the other.' : 'the first cannot reach addresses on the second.'))) : el('p', {}, 'Every node reaches every address on every other.');
  const parts = [summary];
  if (nodes.length <= matrixMax && nodes.length) parts.push(matrix(nodes, pairs, lost));
  if (pairs.size) {
    const rows = [...pairs.values()].filter((c) => matches(c.join(' ').toLowerCase())).sort((a, b) => order(a[from], b[from]) || order(a[to], b[to]))
      .map((c) => ({ wrong: true, cells: [shortNode(c[from]), shortNode(c[to]), c[lost], c[why]] }));
    parts.push(...makeTable('Lost addresses at step ' + state.step, ['From', 'To', 'Addresses it cannot reach', 'Why'], rows, true));
  }
  byId('reach').replaceChildren(...parts);
}

function matrix(nodes, pairs, lost) {
  const head = el('tr', {}, el('th', { scope: 'col' }, 'from ↓ to →'), ...nodes.map((n) => el('th', { scope: 'col', title: n.name }, shortNode(n.name))));
  const body = nodes.map((a) => el('tr', {}, el('th', { scope: 'row', title: a.name }, shortNode(a.name)), ...nodes.map((b) => {
    if (a.name === b.name) return el('td', { class: 'self' }, '·', hidden('itself'));
    if (a.down || b.down) return el('td', { class: 'down' }, '–', hidden('down'));
    const c = pairs.get(a.name + '\n' + b.name);
    if (!c) return el('td', { class: 'ok' }, '✓', hidden('reaches'));
    return el('td', { class: 'lost', title: c[lost] }, '✗', el('span', { class: 'count' }, String(c[lost].split(/[ ,]+/).filter(Boolean).length)), hidden('lost: ' + c[lost]));
  })));
  return el('div', { class: 'tablebox', tabindex: '0', role: 'region', 'aria-label': 'Who reaches whom' }, el('table', { class: 'matrix' }, el('caption', { class: 'unseen' }, 'Who reaches whom at step ' + state.step), el('thead', {}, head), el('tbody', {}, ...body)));
}
