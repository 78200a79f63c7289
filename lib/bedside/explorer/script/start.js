// Bringing it together

$("app").hidden = false;
document.querySelector(".frame nav").hidden = window.parent !== window;      // a notebook shows this page, and no other
$("filters").hidden = narrow.matches;
$("facets").append(...Object.keys(FACETS).map(facet));
$("outcome").append(...["", ...Object.keys(OUTCOMES)].map(value =>
  option("radio", span("", OUTCOMES[value] ?? "all"), () => { state.outcome = value; }, {name: "outcome"})));
$("differs").append(option("checkbox", span("", "judge differs from human"), on => { state.differs = on; }),
  option("checkbox", span("", "judges disagree"), on => { state.disagree = on; }));
$("compare").append(...Object.entries(COMPARED).map(([value, name]) => make("option", {value}, name)));
const table = new Tabulator("#table", {data: [], columns: [], height: "100%", rowHeight: 44, layout: "fitColumns",
  keybindings: false, nestedFieldSeparator: false, columnHeaderSortMulti: false, renderVerticalBuffer: 120});      // pixels: rows out of sight cost time too
await new Promise(built => table.on("tableBuilt", built));
const holder = $("table").querySelector(".tabulator-tableholder");
$("table").removeAttribute("aria-owns");             // what takes the focus between a grid and its rows is their group
holder.setAttribute("role", "rowgroup");
holder.querySelector(".tabulator-table").removeAttribute("role");
table.setFilter(l => l.passes);
$("table").addEventListener("click", () => {         // after the table's own listeners: a column's head may have sorted
  const [by] = table.getSorters(), sorted = by ? (by.dir === "desc" ? "-" : "") + by.field : "";
  if (sorted === state.sort || (!by && !column(state.sort.replace(/^-/, "")))) return;
  state.sort = sorted;
  ordered = null;
  detail();
  later();
});
table.on("rowClick", (event, row) => select(row.getData().row.id, true));

let typing = 0;
$("search").oninput = () => {
  clearTimeout(typing);
  typing = setTimeout(() => { state.search = $("search").value; change(); }, 120);
};
$("clear").onclick = clear;
$("compare").onchange = event => {
  Object.assign(state, {compare: event.target.value, a: "", b: "", pairs: ""});
  if (state.compare && state.compare !== "models") meet();
  change();
};
for (const [side, other] of [["a", "b"], ["b", "a"]])
  $(side).onchange = event => {
    if (event.target.value === state[other]) state[other] = state[side];
    state[side] = event.target.value;
    change();
  };
$("toggle").onclick = () => {
  $("filters").hidden = !$("filters").hidden;
  $("toggle").setAttribute("aria-expanded", String(!$("filters").hidden));
};
$("toggle").setAttribute("aria-expanded", String(!narrow.matches));
$("export").onclick = download;
$("link").onclick = copy;
$("save").onclick = saveMarks;
$("load").onclick = () => $("marksfile").click();
$("marksfile").onchange = loadMarks;
$("help").onclick = () => $("keys").showModal();
$("done").onclick = () => $("keys").close();
$("previous").onclick = () => step(i => i - 1);
$("next").onclick = () => step(i => i + 1);
$("close").onclick = close;
narrow.onchange = wide.onchange = () => detail();
window.onhashchange = restore;
document.querySelector(".skip").onclick = event => {         // the fragment is the view's
  event.preventDefault();
  $("main").focus();
};
window.onafterprint = () => $("printed")?.remove();
window.onbeforeprint = () => {
  $("printed")?.remove();
  if ($("detail").hidden) $("frame").after(list());
  document.querySelectorAll("#detail .all").forEach(b => b.click());
  document.querySelectorAll("#detail details:not(.sent, .sent *, .asked, .asked *)").forEach(d => { d.open = true; });
};

document.addEventListener("keydown", event => {
  const at = event.target, next = i => i + 1, previous = i => i - 1;
  const keys = {ArrowDown: next, j: next, ArrowUp: previous, k: previous, Home: () => 0, End: (_, n) => n - 1};
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (at === $("search") && ["Enter", "ArrowDown", "Escape"].includes(event.key)) {
    event.preventDefault();
    clearTimeout(typing);
    const leaves = event.key !== "Escape" || !at.value;      // Escape empties the field first and leaves it second
    if (event.key === "Escape") at.value = "";
    if (state.search !== at.value) { state.search = at.value; change(); }
    if (leaves) holder.focus();
    if (event.key !== "Escape") step(() => 0);
    return;
  }
  if ($("keys").open || at.matches("input:not([type=checkbox]), select, textarea")) return;
  if (Object.hasOwn(keys, event.key)) step(keys[event.key]);
  else if (event.key === "Enter" && !at.matches("a, button, input, summary")) {
    if (!state.id) step(i => Math.max(i, 0));
    $("detail").focus();
  } else if (event.key === "Escape" && state.id) close();
  else if (state.id && Object.keys(MARKS)[event.key - 1]) toggle(openRow(), Object.keys(MARKS)[event.key - 1]);
  else if (state.id && event.key === "n") $("reply").querySelector(".marks textarea").focus();
  else if (event.key === "/") $("search").focus();
  else if (event.key === "?") $("keys").showModal();
  else return;
  event.preventDefault();
});

window.explorer = {apply, state, timings};
restore();
// Texts are put into lower case while nothing else happens, so that the first search doesn't wait for it.
let warmed = 0;
const warm = idle => {
  while (warmed < rows.length && idle.timeRemaining() > 4) haystack(rows[warmed++]);
  if (warmed < rows.length) requestIdleCallback(warm);
};
window.requestIdleCallback?.(warm);
