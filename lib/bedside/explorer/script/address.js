// The address: the whole view in its fragment

function fragment() {
  const query = new URLSearchParams();
  for (const [facet, key] of Object.entries(FACETS)) for (const value of state[facet]) query.append(key, value);
  if (state.differs) query.set("d", "1");
  if (state.disagree) query.set("y", "1");
  for (const [name, key] of Object.entries(SINGLE))
    if (state[name] || (state.compare && state.compare !== "models" && /^[ab]$/.test(name))) query.set(key, state[name]);
  return "#" + query.toString().replaceAll("%2F", "/");
}

let waiting = 0;
function remember(push = false) {
  clearTimeout(waiting);
  waiting = 0;
  if (fragment() !== (location.hash || "#")) history[push ? "pushState" : "replaceState"](null, "", fragment());
}
function later() {                          // browsers stop pages that write the address too often
  clearTimeout(waiting);
  waiting = setTimeout(remember, 200);
}

function opening() {                        // where verdicts vary: the first section with labels and ten of both outcomes
  const found = new Map();
  for (const row of rows) {
    const counts = entry(found, JSON.stringify([row.paper, row.section]), () => ({failed: 0, right: 0, unscored: 0, people: 0}));
    counts[outcome(counting(row))]++;
    counts.people += row.human.length > 0;
  }
  const varied = [...found].map(([key, n]) => [key, Math.min(n.failed, n.right), n.people]).filter(([, n]) => n);
  if (found.size < 2 || !varied.length) return;
  const most = varied.reduce((x, y) => y[1] > x[1] ? y : x);
  const [paper, section] = JSON.parse((varied.find(([, n, people]) => people && n >= 10) ?? most)[0]);
  state.paper.add(paper);
  state.section.add(section);
}

function restore() {
  const query = new URLSearchParams(location.hash.slice(1)), lost = [];
  const take = (key, known, what) => query.getAll(key).filter(v => known(v) || void lost.push(`${what} “${plain(v, 80)}”`));
  for (const [facet, key] of Object.entries(FACETS)) state[facet] = new Set(take(key, v => offered[facet].has(v), facet));
  state.differs = take("d", v => v === "1", "filter").length > 0;
  state.disagree = take("y", v => v === "1", "filter").length > 0;
  state.search = query.get("q") ?? "";
  [state.outcome = ""] = take("o", v => Object.hasOwn(OUTCOMES, v), "filter");
  [state.sort = ""] = take("sort", v => sortable(v.replace(/^-/, "")), "column");
  [state.compare = ""] = take("x", v => Object.hasOwn(COMPARED, v), "comparison");
  for (const side of ["a", "b"])
    [state[side]] = take(side, v => sidesOffered().some(([known]) => known === v), side.toUpperCase());
  [state.pairs = ""] = take("w", v => state.compare && Object.hasOwn(choices(), v), "choice of pairs");
  [state.id = ""] = take("id", v => byId.has(v), "row");
  const keys = ["d", ...Object.values(FACETS), ...Object.values(SINGLE)];
  for (const key of new Set(query.keys())) if (!keys.includes(key)) lost.push(`setting “${plain(key, 80)}”`);
  if (state.compare && state.compare !== "models" && (state.a === undefined || state.b === undefined)) meet();
  if (!location.hash) opening();
  $("search").value = state.search;
  apply();
  sort();
  select(state.id, false);
  say(lost.length ? `The link names something that is not in this file: ${lost.join(", ")}. The rest is shown.` : "");
}
