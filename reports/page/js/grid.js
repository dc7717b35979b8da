// Pools and blocks as grids, a cell an address.
const gridMax = 1024;
const cellSize = 11;
const gridStates = [['free', 'free'], ['outside', 'outside the range'], ['agree', 'claimed, and alive'], ['borrowed', 'borrowed: alive on a node that does not own the block'], ['pending', 'claimed, not alive now'], ...wrongs.map((k) => [k, k])];

// The addresses by number, sorted, so that those of a range are found quickly.
const numbered = rec.addresses.map((held) => ({ held, a: parseAddress(held.addr) })).filter((x) => x.a)
  .sort((x, y) => x.a.bits - y.a.bits || (x.a.n < y.a.n ? -1 : x.a.n > y.a.n ? 1 : 0));

// ranges are the blocks as stored, or else the pools.
function ranges() {
  const blocks = tableIndex('blocks'), pools = tableIndex('pools');
  const t = blocks >= 0 ? blocks : pools;
  if (t < 0) return [];
  const prefix = column(t, 'block', 'range', 'cidr'), node = column(t, 'owner', 'node'), network = column(t, 'network'), named = column(t, 'pool', 'block');
  return [...scene.rows[t].entries()].sort((a, b) => order(a[0], b[0])).map(([, cells]) => ({
    prefix: parsePrefix(cells[prefix]), name: cells[named], text: cells[prefix], node: node >= 0 ? cells[node] : '', network: network >= 0 ? cells[network] : '',
    what: blocks >= 0 ? 'Block' : 'Pool',
  })).filter((r) => r.prefix && matches([r.name, r.text, r.node, r.network].join(' ').toLowerCase()) || state.q !== '');
}

// lenders are the borrowed addresses, with the node whose block each is from and the
// one that has it.
function lenders() {
  const claims = tableIndex('claims'), blocks = tableIndex('blocks');
  const out = new Map();
  if (claims < 0 || blocks < 0) return out;
  const [address, pool, node] = ['address', 'pool', 'node'].map((c) => column(claims, c));
  const owner = column(blocks, 'owner');
  for (const c of scene.rows[claims].values()) {
    const block = scene.rows[blocks].get(c[pool]);
    if (block && block[owner] && c[node] && c[node] !== block[owner]) out.set(c[address], { owner: block[owner], by: c[node] });
  }
  return out;
}

function cellsOf(range, lent) {
  const p = range.prefix, end = p.first + p.size;
  const inside = numbered.filter((x) => x.a.bits === p.bits && x.a.n >= p.first && x.a.n < end && (!range.network || !x.held.network || sameNetwork(x.held.network, range.network)));
  let first = p.first, size = p.size;
  if (size > BigInt(gridMax)) { // only the part that is used
    if (!inside.length) return null;
    first = inside[0].a.n - (inside[0].a.n % 16n);
    size = inside[inside.length - 1].a.n - first + 1n;
    if (size > BigInt(gridMax)) return null;
  }
  const cells = Array.from({ length: Number(size) }, (_, i) => (allowed(range, p.bits, first + BigInt(i)) ? 'free' : 'outside'));
  const usable = size === p.size && cells.includes('outside') ? cells.filter((s) => s === 'free').length : 0;
  const count = {};
  let taken = 0;
  for (const x of inside) {
    const now = heldAt(x.held, state.step);
    const s = wrongOf(now) || (now.claimed ? (now.live ? (lent.has(x.held.addr) ? 'borrowed' : 'agree') : 'pending') : now.live ? 'agree' : 'free');
    if (s === 'free') continue;
    if (cells[Number(x.a.n - first)] === 'free') taken++;
    cells[Number(x.a.n - first)] = s;
    count[s] = (count[s] || 0) + 1;
  }
  return { cells, first, bits: p.bits, count, inside, usable, free: usable - taken };
}
// The ranges that the networks may hand out, as numbers.
const limits = rec.ranges.map((r) => ({ network: r.network, prefix: parsePrefix(r.prefix), start: parseAddress(r.start), end: parseAddress(r.end), exclude: (r.exclude || []).map(parsePrefix) })).filter((r) => r.prefix && r.start && r.end);
const holds = (prefix, bits, n) => prefix && prefix.bits === bits && n >= prefix.first && n < prefix.first + prefix.size;

// allowed says whether a network may hand out an address: some range of its does, or
// none that it is in says anything.
function allowed(range, bits, n) {
  const about = limits.filter((l) => (!range.network || sameNetwork(l.network, range.network)) && holds(l.prefix, bits, n));
  return !about.length || about.some((l) => n >= l.start.n && n <= l.end.n && !l.exclude.some((x) => holds(x, bits, n)));
}
const sameNetwork = (a, b) => a === b || shortNetwork(a) === shortNetwork(b);

function paintCell(ctx, s, x, y) {
  const w = cellSize - 2;
  if (s === 'agree') { ctx.fillStyle = colour('owner0'); ctx.fillRect(x, y, w, w); }
  else if (s === 'borrowed') { ctx.fillStyle = colour('owner0'); ctx.fillRect(x, y, w, w); ctx.fillStyle = colour('panel'); ctx.fillRect(x + w / 2 - 2, y + w / 2 - 2, 4, 4); }
  else if (s === 'pending') { ctx.strokeStyle = colour('owner0'); ctx.lineWidth = 2; ctx.strokeRect(x + 1, y + 1, w - 2, w - 2); }
  else if (s === 'outside') { ctx.fillStyle = colour('line'); ctx.fillRect(x + w / 2 - 1.5, y + w / 2 - 1.5, 3, 3); }
  else if (s === 'free') { ctx.strokeStyle = colour('line'); ctx.lineWidth = 1; ctx.strokeRect(x + 0.5, y + 0.5, w - 1, w - 1); }
  else {
    ctx.fillStyle = pattern(ctx, s);
    ctx.fillRect(x, y, w, w);
    ctx.strokeStyle = colour(s);
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x + 0.75, y + 0.75, w - 1.5, w - 1.5);
  }
}

// What is drawn stays and is drawn over: canvases cost more than what is on them. Its
// width is kept, because asking for it would lay out the page once more.
const drawn = new Map(); // title of a range → {figure, caption, canvas, describe: what a place holds}
let gridWidth = 0, gridHead = null, gridScheme = null;
const gridTell = el('p', { class: 'dim cell' }, 'Point at an address to read who has it.');

function makeGrid() {
  new ResizeObserver(([entry]) => {
    const width = Math.round(entry.contentRect.width);
    if (width && width !== gridWidth) { gridWidth = width; showGrid(); }
  }).observe(byId('grid'));
}

function gridFigure(title) {
  const d = { caption: el('figcaption'), canvas: el('canvas', { role: 'img' }), at: null };
  d.figure = el('figure', {}, d.caption, d.canvas);
  d.canvas.addEventListener('pointermove', (e) => { gridTell.textContent = d.at(e.offsetX, e.offsetY) || gridTell.textContent; });
  drawn.set(title, d);
  return d;
}

function showGrid() {
  byId('gridpanel').hidden = tableIndex('blocks') < 0 && tableIndex('pools') < 0;
  if (byId('gridpanel').hidden) return;
  if (gridScheme !== scheme.matches) { gridHead = gridLegend(); gridScheme = scheme.matches; }
  const all = ranges(), lent = lenders();
  const figures = all.slice(0, 24).map((range) => drawRange(range, lent));
  if (all.length > 24) figures.push(el('p', { class: 'dim' }, '… and ' + (all.length - 24) + ' more: search for a node or a range.'));
  byId('grid').replaceChildren(gridHead, gridTell, el('div', { class: 'grids' }, ...(figures.length ? figures : [el('p', { class: 'dim' }, 'None at this step.')])));
}

function drawRange(range, lent) {
  const g = cellsOf(range, lent);
  const title = range.what + ' ' + range.name + (range.text !== range.name && !range.name.includes(range.text.replace('/', '-')) ? ' (' + range.text + ')' : '') + (range.node ? ', of ' + shortNode(range.node) : '');
  const used = g ? Object.entries(g.count).map(([k, n]) => n + ' ' + (gridStates.find(([s]) => s === k) || [k, k])[1]).join(', ') || 'nothing in it' : 'too wide to draw';
  const room = g && g.usable ? '; ' + g.free + ' of ' + g.usable + ' free' : '';
  const borrowed = g ? g.inside.filter((x) => lent.has(x.held.addr)).map((x) => lastPart(x.held.addr) + ' by ' + shortNode(lent.get(x.held.addr).by)) : [];
  const d = drawn.get(title) || gridFigure(title);
  d.caption.replaceChildren(el('strong', {}, title), ': ' + used + room + (borrowed.length ? '; borrowed: ' + borrowed.slice(0, 5).join(', ') + (borrowed.length > 5 ? ' and ' + (borrowed.length - 5) + ' more' : '') : ''));
  d.canvas.hidden = !g;
  if (!g) return d.figure;
  d.canvas.setAttribute('aria-label', title + ': ' + used + room);
  const across = Math.min(32, Math.max(8, Math.floor((Math.min(gridWidth || 600, 600) - 34) / cellSize / 8) * 8));
  const ctx = sized(d.canvas, 34 + across * cellSize, Math.ceil(g.cells.length / across) * cellSize);
  ctx.font = '10px ' + colour('mono');
  ctx.textBaseline = 'middle';
  g.cells.forEach((s, i) => {
    const y = Math.floor(i / across) * cellSize;
    if (i % across === 0) { ctx.fillStyle = colour('dim'); ctx.fillText(lastPart(formatAddress(g.bits, g.first + BigInt(i))), 0, y + cellSize / 2); }
    paintCell(ctx, s, 34 + (i % across) * cellSize, y);
  });
  d.at = (x, y) => {
    const i = Math.floor(y / cellSize) * across + Math.floor((x - 34) / cellSize);
    if (x < 34 || i < 0 || i >= g.cells.length) return '';
    const there = g.inside.find((other) => other.a.n === g.first + BigInt(i));
    return there ? describeHeld(there.held) : formatAddress(g.bits, g.first + BigInt(i)) + (g.cells[i] === 'outside' ? ': outside the range' : ': never used');
  };
  return d.figure;
}

function gridLegend() {
  const used = gridStates.filter(([s]) => (s === 'borrowed' ? tableIndex('blocks') >= 0 : s === 'outside' ? limits.length : !wrongs.includes(s) || occurring.includes(s)));
  return el('ul', { class: 'legend' }, ...used.map(([s, text]) => {
    const c = el('canvas', { 'aria-hidden': 'true' });
    paintCell(sized(c, cellSize, cellSize), s, 1, 1);
    return el('li', {}, c, ' ' + text);
  }));
}
