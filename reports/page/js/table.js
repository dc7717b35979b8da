// Tables of text. rows are {cells: [text or element], mark: '' | 'added' | 'changed'
// | 'removed', wrong: bool}. Long ones are cut until a reader asks for all.
const rowsMax = 50;
const markWords = { added: ['+', 'added'], changed: ['~', 'changed'], removed: ['−', 'removed'] };

function makeTable(caption, columns, rows, all, more) {
  const marked = rows.some((r) => r.mark);
  const head = el('tr', {}, marked ? el('th', { scope: 'col', class: 'mark' }, hidden('changed at this step')) : null, ...columns.map((c) => el('th', { scope: 'col' }, c)));
  const body = el('tbody');
  for (const r of all ? rows : rows.slice(0, rowsMax)) {
    const tr = el('tr', { class: [r.mark, r.wrong && 'wrong'].filter(Boolean).join(' ') || null });
    if (marked) tr.append(el('td', { class: 'mark' }, ...(r.mark ? [el('span', { 'aria-hidden': 'true' }, markWords[r.mark][0]), hidden(markWords[r.mark][1])] : [])));
    r.cells.forEach((c, i) => { const td = cell(c); if (columns[i]) td.dataset.label = columns[i]; tr.append(td); });
    body.append(tr);
  }
  const table = el('table', {}, el('caption', { class: 'unseen' }, caption), el('thead', {}, head), body);
  const box = el('div', { class: 'tablebox', tabindex: '0', role: 'region', 'aria-label': caption }, table);
  if (!rows.length) body.append(el('tr', {}, el('td', { colspan: String(columns.length), class: 'dim' }, state.q ? 'nothing that fits the search' : 'empty')));
  const out = [box];
  if (!all && rows.length > rowsMax) {
    const b = el('button', { type: 'button' }, 'Show ' + (rows.length - rowsMax) + ' more rows');
    b.addEventListener('click', more);
    out.push(b);
  }
  return out;
}

// cell is one of a table: short ones stay on a line, long identifiers are cut and
// have all of it as their title.
function cell(c) {
  if (typeof c !== 'string') return el('td', {}, c);
  if (/^([\w-]+\.)?[0-9a-f]{40,}$/.test(c)) return el('td', { title: c, class: 'short' }, c.replace(/[0-9a-f]{40,}$/, (h) => h.slice(0, 12) + '…'));
  return el('td', { class: c.length <= 36 ? 'short' : null }, c);
}

// tableRows are the rows of one table of the film at the playhead: those that the
// step changed first, a row that it removed as it was.
function tableRows(t, fits) {
  const changed = new Map(scene.delta.filter((d) => d.t === t).map((d) => [d.key, d]));
  const rows = [];
  for (const [key, d] of changed) {
    const mark = !d.now ? 'removed' : d.old ? 'changed' : 'added';
    const cells = (d.now || d.old || []).map((c, i) => (mark === 'changed' && d.old[i] !== c ? el('span', {}, el('del', {}, d.old[i] || '∅'), ' ', el('ins', {}, c || '∅')) : c));
    const all = (d.old || []).concat(d.now || []);
    if (all.length && fits(d.now || d.old) && (!state.q || matches(all.join(' ').toLowerCase()))) rows.push({ key, mark, cells });
  }
  for (const [key, cells] of scene.rows[t] || []) {
    if (!changed.has(key) && fits(cells) && (!state.q || matches(cells.join(' ').toLowerCase()))) rows.push({ key, mark: '', cells });
  }
  for (const r of rows) r.place = placeOf(r.key);
  return rows.sort((a, b) => Boolean(b.mark) - Boolean(a.mark) || (a.place < b.place ? -1 : a.place > b.place ? 1 : 0));
}

// placeOf is a text that sorts as people would sort the key: 10.0.0.9 before
// 10.0.0.10, and these before fd00::9, fd00::a and fd00::10.
const places = new Map();
function placeOf(key) {
  if (!places.has(key)) {
    places.set(key, key.replace(/[0-9a-f]*:[0-9a-f]*:[0-9a-f:]*|\d+/gi, (part) => {
      const six = ofSix(part) && parseAddress(part);
      return six ? ':' + six.n.toString(16).padStart(32, '0') : part.replace(/\d+/g, (n) => n.padStart(10, '0'));
    }));
  }
  return places.get(key);
}
const order = (a, b) => (placeOf(a) < placeOf(b) ? -1 : placeOf(a) > placeOf(b) ? 1 : 0);
