// Filters

function option(type, label, set, more) {   // a box or button to tick, its label and room for a count
  const input = make("input", {type, onchange: () => { set(input.checked); change(); }, ...more});
  return make("label", {className: "choice"}, input, label, span("n"));
}

function facet(name) {
  const box = make("div", {role: "group", "aria-label": name, className: "choices"});
  const by = value => name === "model" ? makers.get(value) : "", order = (x, y) => placeOf(by(x)) - placeOf(by(y)) || compare(x, y);
  const rest = make("div", {className: "rest"}, make("p", {className: "soft"}, "not models"));
  const bands = BANDS.map(([b]) => b), sorted = {paper: () => 0, score: (x, y) => bands.indexOf(x) - bands.indexOf(y)}[name] ?? order;
  for (const [value, choice] of [...offered[name]].sort(([x], [y]) => sorted(x, y))) {
    const shown = bdi((name === "paper" && papers.get(value)) || value || "(none)");
    choice.label = option("checkbox", shown, on => state[name][on ? "add" : "delete"](value));
    (name === "model" && by(value) !== "model" ? rest : box).append(choice.label);
  }
  box.append(rest);
  const open = name === "paper" || (offered[name].size <= 12 && !narrow.matches);
  return make("details", {open, hidden: offered[name].size < 2}, make("summary", {}, name === "criterion" ? "criterion that costs points" : name, " ", span("n")), box);
}

function put(label, on, n, disabled = false) {      // writes only what changed, since there may be many
  const [input, , count] = label.children;
  if (count.textContent !== n) count.textContent = n;
  if (input.checked !== on) input.checked = on;
  if (input.disabled !== disabled) input.disabled = disabled;
}

function count(counts) {
  const n = (name, value) => number(counts[name].get(value) ?? 0);
  Object.keys(FACETS).forEach((name, i) => {
    const compared = name === subject() && state.compare !== "models", summary = $("facets").children[i].firstChild;
    summary.lastChild.textContent = compared ? "compared: A and B" : state[name].size ? `${state[name].size} chosen` : "";
    for (const [value, choice] of offered[name]) {
      const on = state[name].has(value), out = !on && name !== "paper" && !shownHere(choice);
      if (choice.label.hidden !== out) choice.label.hidden = out;
      put(choice.label, on, compared ? "" : n(name, value), compared);
    }
  });
  const outcomes = $("outcome").querySelectorAll("label");
  ["", ...Object.keys(OUTCOMES)].forEach((o, i) => put(outcomes[i], o === state.outcome, o && n("outcome", o)));
  put($("differs").firstChild, state.differs, n("differs", true));
  put($("differs").lastChild, state.disagree, n("disagree", true));
  $("differs").lastChild.hidden = !several && !state.disagree;
  if ($("search") !== document.activeElement) $("search").value = state.search;
  $("compare").value = state.compare;
  for (const side of ["a", "b"]) {
    $(side).parentNode.hidden = !state.compare || state.compare === "models";
    const there = sidesOffered().filter(([v, choice]) => shownHere(choice) || v === state[side]);
    $(side).replaceChildren(...there.map(([v]) => make("option", {value: v, selected: v === state[side]}, plain(v) || "(none)")));
  }
}

function change() {
  say("");
  apply();
}

function clear() {
  for (const facet in FACETS) state[facet].clear();
  Object.assign(state, {outcome: "", differs: false, disagree: false, search: "", pairs: ""});
  $("search").value = "";
  change();
}

const sidesOffered = () => [...offered[subject()] ?? []].filter(([v]) => state.compare !== "model" || makers.get(v) === "model");

function meet() {                           // A and B to begin with: the first two values that meet in a pair
  const what = subject(), groups = new Map();
  [state.a, state.b = state.a] = sidesOffered().map(([v]) => v);
  for (const row of rows.filter(r => comparable(r) && (!state.paper.size || state.paper.has(r.paper)))) {
    const key = what === "judge" ? row : group(row, what);
    const met = new Set([...groups.get(key) ?? [], ...what === "judge" ? row.verdicts.map(v => v.judge) : [row[what]]]);
    groups.set(key, met);
    if (met.size > 1) return [state.a, state.b] = met;
  }
}
