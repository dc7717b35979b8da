'use strict';
// Search, filters, order and copying. The state is in the URL fragment, so that it
// survives a reload and can be shared.
const state = new URLSearchParams(location.hash.includes('=') ? location.hash.slice(1) : '');
function keep(name, value) {
  if ((state.get(name) || '') === value) return;
  if (value) state.set(name, value); else state.delete(name);
  const hash = state.toString();
  try { history.replaceState(null, '', '#' + hash); } catch { location.replace('#' + hash); }
}
function make(tag, props, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
}

function table(section) {
  const name = section.dataset.name, tools = section.querySelector('.tools');
  if (!tools) return;
  const body = section.querySelector('tbody'), heads = [...section.querySelectorAll('thead th')];
  const rows = [...body.rows], titles = heads.map(h => h.textContent);
  const texts = rows.map(r => r.textContent.toLowerCase());
  const value = (row, n) => { const v = row.cells[n].querySelector('.v'); return v ? v.textContent : ''; };
  const filters = [];
  const search = make('input', {type: 'search', autocomplete: 'off', spellcheck: false, value: state.get(name + '.q') || ''});
  const count = make('output', {});
  count.setAttribute('aria-live', 'polite');
  const reset = make('button', {type: 'button', textContent: 'show all'});
  tools.append(make('label', {}, 'search', search));
  heads.forEach((head, n) => {
    if (!('choice' in head.dataset)) return;
    const values = [...new Set(rows.map(r => value(r, n)))].filter(v => v).sort();
    if (values.length < 2) return;
    const select = make('select', {});
    select.append(new Option('all', ''), ...values.map(v => new Option(v, v)));
    const kept = state.get(name + '.' + titles[n]);
    if (values.includes(kept)) select.value = kept;
    tools.append(make('label', {}, titles[n], select));
    filters.push({n, select});
  });
  tools.append(reset, count);
  tools.hidden = false;

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(w => w);
    let shown = 0;
    rows.forEach((r, i) => {
      const fits = words.every(w => texts[i].includes(w)) && filters.every(f => !f.select.value || value(r, f.n) === f.select.value);
      r.hidden = !fits;
      if (fits) shown++;
    });
    count.textContent = shown + ' of ' + rows.length + ' shown';
    reset.hidden = shown === rows.length && !words.length;
    keep(name + '.q', search.value);
    for (const f of filters) keep(name + '.' + titles[f.n], f.select.value);
  }
  search.addEventListener('input', filter);
  for (const f of filters) f.select.addEventListener('change', filter);
  reset.addEventListener('click', () => {
    search.value = '';
    for (const f of filters) f.select.value = '';
    filter();
    search.focus();
  });

  function sort(n, down) {
    const key = r => { const c = r.cells[n]; return 's' in c.dataset ? Number(c.dataset.s) : value(r, n) || c.textContent; };
    const keyed = rows.map((r, i) => [key(r), i, r]);
    keyed.sort(([a, i], [b, j]) => {
      const d = typeof a === 'number' && typeof b === 'number' ? a - b
        : typeof a !== typeof b ? (typeof a === 'number' ? -1 : 1) : a < b ? -1 : a > b ? 1 : 0;
      return (down ? -d : d) || i - j;
    });
    body.append(...keyed.map(k => k[2]));
    heads.forEach((h, m) => h.setAttribute('aria-sort', m !== n ? 'none' : down ? 'descending' : 'ascending'));
    keep(name + '.sort', (down ? '-' : '') + titles[n]);
  }
  heads.forEach((head, n) => {
    const button = make('button', {type: 'button', textContent: titles[n]});
    head.replaceChildren(button);
    head.setAttribute('aria-sort', 'none');
    button.addEventListener('click', () => sort(n, head.getAttribute('aria-sort') === 'ascending'));
  });
  const by = state.get(name + '.sort') || '';
  const n = titles.indexOf(by.replace(/^-/, ''));
  if (n >= 0) sort(n, by.startsWith('-'));
  filter();
}

async function copy(code, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch { // not allowed here: it is selected, and one key away
    const range = document.createRange();
    range.selectNodeContents(code);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    done = document.execCommand('copy');
  }
  button.textContent = done ? 'copied' : 'selected';
  setTimeout(() => { button.textContent = 'copy'; }, 2000);
}

for (const s of document.querySelectorAll('section.table')) table(s);
for (const code of document.querySelectorAll('code.command')) {
  const button = make('button', {type: 'button', textContent: 'copy', ariaLabel: 'copy: ' + code.textContent});
  button.addEventListener('click', () => copy(code, button));
  code.after(button);
}

const jump = document.getElementById('jump');
if (jump) jump.addEventListener('click', e => { // what is behind # is the state
  e.preventDefault();
  const to = document.getElementById('over-time');
  to.focus({preventScroll: true});
  to.scrollIntoView();
});

const reload = document.getElementById('reload');
if (reload) {
  reload.parentElement.hidden = false;
  reload.checked = state.get('still') !== '1';
  const turn = () => {
    if (reload.checked && !document.hidden && !document.querySelector('.tools :focus, td :focus, th :focus')) location.reload();
  };
  setInterval(turn, Number(document.body.dataset.every) * 1000);
  reload.addEventListener('change', () => keep('still', reload.checked ? '' : '1'));
}
