// Every other table of the film, folded until a reader opens it.
const openTables = new Set(['blocks', 'claims', 'sandboxes']);
const allRows = new Set();
const tableBoxes = new Map();

function makeTables() {
  const box = byId('tables');
  film.tables.forEach((t, i) => {
    if (t.name === 'routes' || t.name === 'reach') return;
    const count = el('span', { class: 'dim' });
    const body = el('div');
    const d = el('details', { class: 'panel', open: openTables.has(t.name) }, el('summary', {}, el('strong', {}, t.title || t.name), ' ', count), body);
    d.addEventListener('toggle', () => { if (d.open) openTables.add(t.name); else openTables.delete(t.name); showTable(i); });
    tableBoxes.set(i, { count, body, d });
    box.append(d);
  });
}

function showTable(i) {
  const { count, body, d } = tableBoxes.get(i);
  const changed = scene.delta.filter((c) => c.t === i).length;
  // Nothing to do if all that it depends on is as it was.
  const shows = [d.open, scene.touched[i], changed && state.step, state.q, allRows.has(i)].join();
  if (tableBoxes.get(i).shows === shows) return;
  tableBoxes.get(i).shows = shows;
  count.textContent = plural(scene.rows[i].size, 'row') + (changed ? ', ' + changed + ' changed at this step' : '');
  if (!d.open) return;
  const t = film.tables[i];
  body.replaceChildren(...makeTable((t.title || t.name) + ' at step ' + state.step, t.columns, tableRows(i, () => true), allRows.has(i), () => { allRows.add(i); showTable(i); }));
}
