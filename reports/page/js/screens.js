// What the commands of the scenario printed.
function makeScreens() {
  byId('screenspanel').hidden = !rec.screens.length;
  byId('screens').replaceChildren(...rec.screens.map((s, i) => {
    const link = el('a', { href: '#step=' + s.step, 'data-step': String(s.step) }, 'step ' + s.step + ', ' + clock(s.at));
    return el('details', { class: 'panel', open: i < 3 }, el('summary', {}, el('code', {}, s.prompt), ' ', link), el('pre', { tabindex: '0', 'aria-label': s.prompt }, s.output));
  }));
}
