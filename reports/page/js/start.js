// All of it, in the order in which it is needed.

// What shows the scene, and where. In sight it follows the playhead immediately, the rest
// as soon as the reader rests, one after the other.
const panels = [['decision', showDecision], ['changed', showChanged], ['truth', showTruth], ['grid', showGrid], ['routes', showRoutes], ['reach', showReach]].map(([id, show]) => ({ box: byId(id).parentElement, show }));
const restMs = 80;
let resting = 0;

function showScene() {
  clearTimeout(resting);
  for (const p of panels) p.stale = true;
  const near = panels.filter((p) => { const r = p.box.getBoundingClientRect(); return r.bottom > -100 && r.top < innerHeight + 100; });
  for (const p of near) { p.show(); p.stale = false; }
  resting = setTimeout(showRest, restMs);
}

function showRest() {
  const p = panels.find((x) => x.stale);
  if (!p) return;
  p.stale = false;
  p.show();
  resting = setTimeout(showRest, 0);
}

// The names of processes are said as in the rest of the page.
function shortenTurns() {
  for (const w of document.querySelectorAll('ol.turns .who')) {
    w.title = w.textContent;
    w.textContent = shortActor(w.textContent);
  }
}

// On a narrow screen the story begins with its last few cards.
function foldTurns() {
  const cards = document.querySelector('aside section.turns > ol');
  if (!cards || cards.children.length <= 7) return;
  cards.classList.add('folded');
  const all = el('button', { type: 'button', class: 'allturns' }, 'All ' + (cards.children.length - 1));
  all.addEventListener('click', () => { cards.classList.remove('folded'); all.remove(); });
  cards.before(all);
}

function makeCopy() {
  const b = byId('copy');
  if (!b) return;
  b.hidden = false;
  b.addEventListener('click', async () => {
    const said = byId('copied');
    try {
      await navigator.clipboard.writeText(byId('command').textContent);
      said.textContent = 'copied';
    } catch { // no permission: mark it, so that it can be copied by hand
      getSelection().selectAllChildren(byId('command'));
      said.textContent = 'press Ctrl+C';
    }
  });
}

function makePrintable() {
  const folded = [...document.querySelectorAll('details.timeline')];
  addEventListener('beforeprint', () => folded.forEach((d) => { d.open = true; }));
  addEventListener('afterprint', () => folded.forEach((d) => { d.open = false; }));
}

byId('stage').hidden = false;
makeKeyframes();
Object.assign(state, { step: gravest ? gravest.step : lastStep }, fromAddress());
state.step = Math.min(lastStep, state.step);
seek(state.step);
makeRoutes();
makeReach();
search();
makePlayhead();
makeSearch();
makeStripLegend();
makeLaneLegend();
makeStrip();
makeLanes();
makeTables();
for (const [i, { d }] of tableBoxes) panels.push({ box: d, show: () => showTable(i) });
makeList();
makeGrid();
makeScreens();
makeCopy();
shortenTurns();
foldTurns();
makePrintable();
lookAtStory();
followPlayhead();
strip.measure();
lanesView.measure();
showPlayhead();
showScene();
listTop();
const showSoon = soon(showScene);
onChange((diff) => {
  if (diff.q) { search(); strip.measure(); lanesView.measure(); }
  if (diff.step) { followPlayhead(); showPlayhead(); showMatches(); }
  if (diff.step || diff.q) listTop();
  showSoon();
});
addEventListener('hashchange', () => go(fromAddress()));
scheme.addEventListener('change', showSoon);
document.documentElement.dataset.ready = 'yes';
