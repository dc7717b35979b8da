// Labelled rows beside a canvas, in a box of their own that scrolls. Only what can be
// seen is drawn. Strip and lanes are made of it.
//
// rows() are {height, label, title, head, press}: a head is a heading without a
// label to press. draw(ctx, row, y, width) paints one, clear of what is above y.
function makeRows(box, { name, describe, rows, draw }) {
  const scroller = el('div', { class: 'scroller', tabindex: '0', role: 'group', 'aria-label': name });
  const spacer = el('div', { class: 'spacer' });
  const canvas = el('canvas', { role: 'img' });
  const labels = el('div', { class: 'labels' });
  spacer.append(canvas, labels);
  scroller.append(spacer);
  const rest = el('p', { class: 'dim rest' });
  box.append(scroller, rest);
  let tops = [], list = [], total = 0, labelWidth = 0, width = 0, height = 0;

  function measure() {
    list = rows();
    tops = [];
    total = axisHeight;
    for (const r of list) { tops.push(total); total += r.height; }
    spacer.style.height = total + 'px';
    labelWidth = Math.min(220, Math.max(106, Math.round(box.clientWidth * 0.2)));
    box.style.setProperty('--label', labelWidth + 'px');
    width = Math.max(60, scroller.clientWidth - labelWidth); // the bar for scrolling has its room
    height = Math.min(total, maxHeight());
    scroller.style.height = height + 'px';
    paint();
  }
  const maxHeight = () => Math.max(220, Math.min(460, innerHeight * 0.6));

  function paint() {
    const top = scroller.scrollTop;
    const ctx = sized(canvas, width, height);
    let i = Math.max(0, firstAfter(tops, top + axisHeight, itself) - 1);
    const shown = [];
    drawLines(ctx, width, height);
    for (; i < list.length && tops[i] < top + height; i++) {
      const y = tops[i] - top;
      shown.push([list[i], tops[i]]);
      ctx.fillStyle = colour(list[i].head ? 'head' : 'line');
      ctx.fillRect(0, y + list[i].height - 1, width, 1);
      if (!list[i].head) draw(ctx, list[i], y, width);
    }
    const below = i < list.length ? list.slice(i).filter((r) => !r.head).length : 0;
    rest.textContent = below ? plural(below, 'more row') + ' below: scroll.' : '';
    rest.hidden = total <= height;
    drawAxis(ctx, width);
    drawPlayhead(ctx, width, height);
    canvas.setAttribute('aria-label', describe());
    label(shown);
  }

  // Labels are kept as long as they are in sight, so that the focus stays.
  const made = new Map();
  function label(shown) {
    const keep = new Set(shown.map(([r]) => r));
    for (const [r, e] of made) if (!keep.has(r)) { e.remove(); made.delete(r); }
    for (const [r, y] of shown) {
      let e = made.get(r);
      if (!e) {
        e = r.head ? el('div', { class: 'label head' }, r.label) : el(r.press ? 'button' : 'div', { class: 'label', type: r.press && 'button' }, r.label);
        if (r.press) e.addEventListener('click', r.press);
        for (const n of r.notes || []) {
          const note = el('span', { class: 'note', 'aria-hidden': 'true' }, n.text);
          note.style.top = n.y + 'px';
          e.append(note);
        }
        made.set(r, e);
        labels.append(e);
      }
      e.style.top = y + 'px';
      e.style.height = r.height + 'px';
      e.title = r.title || r.label;
      if (r.say) e.setAttribute('aria-label', r.say());
      e.classList.toggle('story', Boolean(r.story));
    }
  }

  const repaint = soon(paint);
  scroller.addEventListener('scroll', repaint, { passive: true });
  const seekTo = (event) => go({ step: stepAtX(event.clientX - canvas.getBoundingClientRect().left, width) });
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    seekTo(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => { if (event.buttons & 1) seekTo(event); });
  scroller.addEventListener('wheel', (event) => {
    if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8); }
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); pan(event.deltaX / width); }
  }, { passive: false });
  viewers.push(repaint);
  onChange((diff) => { if (diff.step) repaint(); });
  scheme.addEventListener('change', () => { palette = {}; repaint(); });
  const resized = new ResizeObserver(soon(measure));
  resized.observe(box);
  resized.observe(scroller); // whose width may be known later
  return { measure, paint, scrollTo: (row) => { const i = list.indexOf(row); if (i >= 0) scroller.scrollTop = tops[i] - axisHeight; } };
}
