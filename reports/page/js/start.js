// All of it, in the order in which it is needed.
function showScene() {
  showDecision();
  showChanged();
  showTruth();
  showGrid();
  showRoutes();
  showReach();
  showTables();
}

// The names of processes are said as in the rest of the page.
function shortenTurns() {
  for (const w of document.querySelectorAll('ol.turns .who')) {
    w.title = w.textContent;
    w.textContent = shortActor(w.textContent);
  }
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
search();
makePlayhead();
makeSearch();
makeStripLegend();
makeLaneLegend();
makeStrip();
makeLanes();
makeTables();
makeList();
makeScreens();
makeCopy();
shortenTurns();
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
