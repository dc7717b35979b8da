// Elements. Text goes in as text only: nothing here ever parses markup.
const byId = (id) => document.getElementById(id);

// el('td', {class: 'x', title: 't'}, 'text', child): attributes, then children.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) e.setAttribute(name, '');
    else if (value !== false && value !== undefined && value !== null) e.setAttribute(name, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ''));
  return e;
}

const hidden = (text) => el('span', { class: 'unseen' }, text);

// soon(f) runs f once before the next frame is painted, however often it is asked for.
function soon(f) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; f(); });
  };
}

// colours of the style sheet, for canvases. They change with the colour scheme.
const scheme = matchMedia('(prefers-color-scheme: dark)');
let palette = {};
function colour(name) {
  if (!(name in palette)) palette[name] = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  return palette[name];
}

// sized gives a canvas its size in CSS pixels, sharp on every screen, and its context.
function sized(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
  }
  const ctx = canvas.getContext('2d');
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}

// firstAfter is the first position in a sorted list whose key is greater than n.
function firstAfter(list, n, key) {
  let lo = 0, hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (key(list[mid]) > n) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}
const itself = (n) => n;
const stepOf = (x) => x.step;
