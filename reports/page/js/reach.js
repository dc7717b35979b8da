// Which node reaches the addresses on which: a matrix, from the rows of the table of
// those that do not.
const reachTable = tableIndex('reach');
const nodesTable = tableIndex('nodes');
const matrixMax = 40;

// lostOf are the addresses of a pair of nodes that are lost; countLost is how many.
const lostOf = (cells) => cells[column(reachTable, 'addresses')].split(/[ ,]+/).filter(Boolean);
const countLost = (cells) => lostOf(cells).length;

// lostSix says how many of them are of IPv6, if any.
function lostSix(cells) {
  const all = lostOf(cells), six = all.filter(ofSix).length;
  return !six ? '' : six < all.length ? ', ' + six + ' of IPv6,' : ' of IPv6';
}

// reachAt are the rows of the table after a step.
function reachAt(step) {
  const rows = new Map();
  for (const f of film.frames) {
    if (f.step > step) break;
    for (const c of f.changes || []) if (c.t === reachTable) { if (c.r) rows.set(c.k, c.r); else rows.delete(c.k); }
  }
  return rows;
}

// worstReach is the step of a violation with the most addresses lost, over all pairs;
// 0 if there is none. What is lost only until routes have had their time is no harm.
let worstReach = 0;

// makeReach puts who reaches whom above all else if that is what went wrong.
function makeReach() {
  if (reachTable < 0) return;
  let worst = 0, now = 0;
  const rows = new Map();
  const broken = [...violationsAt.keys()].sort((a, b) => a - b);
  const weigh = (before) => {
    while (broken.length && broken[0] < before) {
      const step = broken.shift();
      if (now > worst) { worst = now; worstReach = step; }
    }
  };
  for (const f of film.frames) {
    weigh(f.step);
    for (const c of f.changes || []) {
      if (c.t !== reachTable) continue;
      const n = c.r ? countLost(c.r) : 0;
      now += n - (rows.get(c.k) || 0);
      rows.set(c.k, n);
    }
  }
  weigh(Infinity);
  byId('reachwhen').addEventListener('change', showReach);
  if (worst && rec.addresses.some((a) => a.spans.some((s) => s.kind === 'blackholed'))) {
    byId('striph').parentElement.before(byId('reachpanel'));
    byId('reachpanel').classList.add('firstpicture');
  }
}

// reachNumbers says for the pairs that lose the most how many addresses, and how it
// is at its worst.
function reachNumbers(pairs, step) {
  const [from, to] = ['from', 'to'].map((c) => column(reachTable, c));
  const numbers = (rows, most) => rows.sort((a, b) => countLost(b) - countLost(a) || order(a[from], b[from]) || order(a[to], b[to])).slice(0, most)
    .map((c) => shortNode(c[from]) + ' does not reach ' + plural(countLost(c), 'address') + lostSix(c) + ' on ' + shortNode(c[to]));
  const out = pairs.size ? [el('ul', { class: 'facts' }, ...numbers([...pairs.values()], 6).map((text) => el('li', {}, text)))] : [];
  if (worstReach && step !== worstReach) out.push(el('p', {}, 'At its worst, at ', el('a', { href: '#step=' + worstReach }, 'step ' + worstReach), ': ' + numbers([...reachAt(worstReach).values()], 3).join('; ') + '.'));
  return out;
}

function showReach() {
  byId('reachpanel').hidden = reachTable < 0;
  if (reachTable < 0) return;
  const [from, to, lost, why] = ['from', 'to', 'addresses', 'why'].map((c) => column(reachTable, c));
  const pairs = new Map();
  const when = byId('reachwhen').value;
  const step = when === 'now' ? state.step : when === 'end' ? lastStep : worstReach;
  for (const cells of (when === 'now' ? scene.rows[reachTable] : reachAt(step)).values()) pairs.set(cells[from] + '\n' + cells[to], cells);
  const name = column(nodesTable, 'node', 'name'), up = column(nodesTable, 'up');
  const nodes = nodesTable < 0 ? [] : [...scene.rows[nodesTable].values()].map((c) => ({ name: c[name], down: up >= 0 && /^(no|false)$/.test(c[up]) }));
  for (const c of pairs.values()) for (const n of [c[from], c[to]]) if (!nodes.some((x) => x.name === n)) nodes.push({ name: n });
  nodes.sort((a, b) => order(a.name, b.name));
  const summary = pairs.size ? el('p', {}, el('strong', {}, '✗ ' + plural(pairs.size, 'pair') + ' of nodes: ' + (pairs.size === 1 ? 'one cannot reach addresses on the other.' : 'the first cannot reach addresses on the second.'))) : el('p', {}, 'Every node reaches every address on every other.');
  const parts = [summary, ...reachNumbers(pairs, step)];
  if (nodes.length <= matrixMax && nodes.length) parts.push(matrix(nodes, pairs, lost, step));
  if (pairs.size) {
    const rows = [...pairs.values()].filter((c) => matches(c.join(' ').toLowerCase())).sort((a, b) => order(a[from], b[from]) || order(a[to], b[to]))
      .map((c) => ({ wrong: true, cells: [shortNode(c[from]), shortNode(c[to]), c[lost], arrows(c[why])] }));
    parts.push(...makeTable('Lost addresses at step ' + step, ['From', 'To', 'Addresses it cannot reach', 'Why'], rows, true));
  }
  byId('reach').replaceChildren(...parts);
}

function matrix(nodes, pairs, lost, step) {
  const head = el('tr', {}, el('th', { scope: 'col' }, 'from ↓ to →'), ...nodes.map((n) => el('th', { scope: 'col', title: n.name }, shortNode(n.name))));
  const body = nodes.map((a) => el('tr', {}, el('th', { scope: 'row', title: a.name }, shortNode(a.name)), ...nodes.map((b) => {
    if (a.name === b.name) return el('td', { class: 'self' }, '·', hidden('itself'));
    if (a.down || b.down) return el('td', { class: 'down' }, '–', hidden('down'));
    const c = pairs.get(a.name + '\n' + b.name);
    if (!c) return el('td', { class: 'ok' }, '✓', hidden('reaches'));
    return el('td', { class: 'lost', title: c[lost] }, '✗', el('span', { class: 'count' }, String(countLost(c))), hidden('lost: ' + c[lost]));
  })));
  return el('div', { class: 'tablebox', tabindex: '0', role: 'region', 'aria-label': 'Reachability' }, el('table', { class: 'matrix' }, el('caption', { class: 'unseen' }, 'Reachability at step ' + step), el('thead', {}, head), el('tbody', {}, ...body)));
}
