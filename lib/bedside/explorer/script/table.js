// The table

const COLUMNS = [["paper", 90], ["section", 90], ["item", 95], ["category", 90], ["configuration", 112], ["model", 95],
  ["title", 0, "question"], ["score", 72, "score, %"], ["word", 80, "verdict"],
  ["outcome", 97], ["apart", 112, "judges apart"], ["wordB", 98, "verdict B"], ["outcomeB", 112, "outcome B"],
  ["human", 85], ["mark", 62]];
const compare = new Intl.Collator("en", {numeric: true}).compare, ranks = new Map();
let listed = [], layout = null, chosen = null, ordered = null;

function rank(field, value = "") {           // collating costs much, so each value is placed once
  let places = ranks.get(field);
  if (!places?.has(value)) {
    const all = [...new Set([...places?.keys() ?? [], ...made.lines.map(l => l[field] ?? ""), value])].sort(compare);
    ranks.set(field, places = new Map(all.map((v, i) => [v, i])));
  }
  return places.get(value);
}

const modelsHere = () => [...new Set(rows.filter(r => comparable(r) && ["paper", "section", "model"].every(f =>
  !state[f].size || state[f].has(r[f]))).map(r => r.model))].sort(compare);
const sortable = field => [...COLUMNS.map(([known]) => known), ...[...makers.keys()].map(columnOf)].includes(field);
const column = field => table.getColumns().find(c => c.getField() === field);

const isSlim = () => wide.matches && !$("detail").hidden;

function asked() {                          // the columns that a comparison has
  const many = state.compare === "models", most = narrow.matches || isSlim() ? 96 : 160;
  const seen = lines().filter(l => l.passes);
  const varies = ([field]) => ["title", "outcome", "outcomeB"].includes(field) || seen.some(l => (l[field] ?? "") !== (seen[0][field] ?? ""));
  const without = many ? ["model", "word", "outcome", "wordB", "outcomeB", "human"]
    : state.compare ? [subject()] : ["wordB", "outcomeB"];
  const models = many ? modelsHere().map(m => [columnOf(m), Math.min(most, Math.max(96, 8 * m.length + 24)), m]) : [];
  if (seen.some(l => l.score !== null)) without.push("word");        // which it says in other words
  return [...COLUMNS.filter(([field]) => !without.includes(field)).filter(varies), ...models];
}

const isOutcome = field => field.startsWith("outcome") || field.startsWith("model:");
const asSign = field => field === "outcome" && (narrow.matches || isSlim());      // in a narrow list, also as its head
const told = (field, value, most) => isOutcome(field) && Object.hasOwn(OUTCOMES, value)
  ? most === 60 && asSign(field) ? OUTCOMES[value][0] : OUTCOMES[value]
  : field === "apart" ? value > 1 ? String(+value.toFixed(1)) : value ? "≠" : "" : plain(String(value ?? ""), most);

function columns() {                        // false if they are as they were
  const slim = isSlim(), hidden = [];
  if (slim || narrow.matches)
    hidden.push("paper", "section", "category", "human", "word", "wordB", "apart", "item", slim && state.compare ? "model" : "",
      "configuration", ...narrow.matches ? ["mark", state.compare ? "model" : ""] : []);
  else if (state.compare === "models") hidden.push("category", ...(wide.matches ? [] : ["paper", "section"]));
  else if (!wide.matches) hidden.push("paper", "category", "human");      // the outcome is worth more in sight
  const chosen = asked().filter(([field]) => !hidden.includes(field)), key = JSON.stringify([slim, chosen]);
  if (layout === key) return false;
  layout = key;
  table.setData([]);                        // an empty table takes its columns faster
  table.setColumns(chosen.map(([field, width, title = field]) => ({
    field, title, headerSortTristate: true, ...(field === "title" ? {minWidth: 110, cssClass: "question"} : {width: asSign(field) ? 38 : width}),
    titleFormatter: cell => make("button", {type: "button", title: `sort by ${plain(title)}`, "aria-label": plain(title)},
      asSign(field) ? OUTCOMES.failed[0] : plain(title)),
    formatter: cell => {
      const value = cell.getValue();
      return make("span", {dir: "auto", className: isOutcome(field) && Object.hasOwn(OUTCOMES, value) ? value : "",
        title: told(field, value, 1000)}, told(field, value, field === "title" ? 240 : 60));
    },
    sorter: ["score", "apart"].includes(field) ? (x, y) => (x ?? Infinity) - (y ?? Infinity) : (x, y) => rank(field, x) - rank(field, y)})));
  sort();
  draw();
  return true;
}

function list() {                           // all lines that pass, for print: the table holds only those in sight
  const fields = asked();
  const cells = l => make("tr", {}, ...fields.map(([field]) => make("td", {dir: "auto", className: isOutcome(field) ? "" : field},
    told(field, l[field], field === "title" ? 300 : 60))));
  const head = fields.map(([field, , title = field]) => make("th", {scope: "col"}, plain(title)));
  return make("table", {id: "printed"}, make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...order().map(([, l]) => cells(l))));
}

function draw() {
  chosen = ordered = null;
  table.setData(listed);
}

function sort() {
  const field = state.sort.replace(/^-/, "");
  if (field && column(field)) table.setSort(field, state.sort === field ? "asc" : "desc");
  else if (table.getSorters().length) table.clearSort();
  ordered = null;
}

const order = () => ordered ??= table.getRows("active").map(r => [r, r.getData()]);
const current = () => state.id && (lines().find(l => l.row.id === state.id) ?? lines().find(l => l.sides.some(([r]) => r.id === state.id)));

function place() {                          // of the open line among those shown, -1 if it isn't
  const l = current();
  return l ? order().findIndex(o => o[1] === l) : -1;
}

function mark(at) {
  chosen?.getElement().removeAttribute("aria-current");
  chosen = at < 0 ? null : order()[at][0];
  chosen?.getElement().setAttribute("aria-current", "true");
}

function select(id, push) {
  if (push) remember();                     // what Back comes back to
  state.id = id;
  detail();
  const at = place();
  if (at >= 0) table.scrollToRow(order()[at][0], "nearest", false).catch(() => {});
  if (push) remember(true); else later();
  if (push && narrow.matches) $("detail").focus();
}

function step(to) {                         // to: a function of the place and the number of rows
  const n = order().length;
  if (n) select(order()[Math.min(n - 1, Math.max(0, to(place(), n)))][1].row.id, !state.id);
}
