"use strict";
/* The failure explorer. Every text of the document is hostile: it reaches the page as text nodes only.

   A *line* is what the table shows: a row with the verdict that counts, or a pair of rows (or of one row's verdicts)
   that are compared. `state` is the view; it is the same as the address's fragment. */
(async () => {
const CUT = 20000;                  // longer texts are shown in part until asked for
const FACETS = {paper: "p", section: "s", model: "m", category: "c", configuration: "g", judge: "j", verdict: "v"};
const SINGLE = {outcome: "o", search: "q", sort: "sort", compare: "x", a: "a", b: "b", pairs: "w", id: "id"};
const OUTCOMES = {failed: "✗ failed", right: "✓ right", unscored: "– unscored"};
const COMPARED = {"": "nothing", model: "two models", judge: "two judges", configuration: "two configurations"};
const PAIRS = {"": "all pairs", both: "both wrong", a: "only A wrong", b: "only B wrong", differ: "they disagree"};
const MATCHES = {matched: "● matched", missed: "○ missed", spurious: "✕ spurious"};
const BRACKETS = {labelled: ["⌜", "⌝"], detected: ["⟨", "⟩"], script: ["script", ""]};
// Controls, marks of writing direction and invisible tag characters: what could change how other text looks.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;
const NAMES = {0x061c: "ALM", 0x200e: "LRM", 0x200f: "RLM", 0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO",
  0x202e: "RLO", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI"};
const narrow = matchMedia("(max-width: 50rem)"), wide = matchMedia("(min-width: 70rem)");      // as in explorer.css
const state = {differs: false, ...Object.fromEntries(Object.keys(FACETS).map(f => [f, new Set()])),
  ...Object.fromEntries(Object.keys(SINGLE).map(k => [k, ""]))};
const timings = [];                 // milliseconds of each apply, for the benchmark

// Making elements and texts

const $ = id => document.getElementById(id);
const {format: number} = new Intl.NumberFormat("en-GB");

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties))
    if (key in element) element[key] = value; else element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function named(c) {
  const code = c.codePointAt(0);
  return `⟦${NAMES[code] ?? "U+" + code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}

const plain = (text, most = 300) => {       // for labels and cells: one line, hidden characters named
  const whole = text.slice(0, most + 1).replace(/\s+/g, " ").replace(HIDDEN, named);
  return text.length > most ? whole.slice(0, most) + " …" : whole;
};
const span = (className, ...children) => make("span", {className}, ...children);
const bdi = text => make("bdi", {}, plain(text));
const soft = (...children) => make("p", {className: "soft"}, ...children);
const button = (onclick, label, more) => make("button", {type: "button", onclick, ...more}, label);

function spell(node, text) {                // a text's nodes, hidden characters as labelled marks in their place
  let last = 0;
  text = text.replaceAll("\r\n", "\n");
  for (const found of text.matchAll(HIDDEN)) {
    node.append(text.slice(last, found.index), span("hidden", named(found[0])));
    last = found.index + found[0].length;
  }
  node.append(text.slice(last));
}

const unseen = words => span("unseen", words);      // for screen readers only
const drawn = (className, sign) => make("span", {className, "aria-hidden": "true"}, sign);

function words(pieces) {                    // [[text, marks], ...]: brackets stand where a mark begins and ends
  const box = make("div", {className: "text", dir: "auto"}), total = pieces.reduce((n, [text]) => n + text.length, 0);
  const kinds = piece => new Set(piece ? piece[1].split(" ").filter(k => Object.hasOwn(BRACKETS, k)) : []);
  const show = limit => {
    box.replaceChildren();
    let left = limit;
    for (let i = 0; i < pieces.length && left > 0; i++) {
      const [before, here, after] = [-1, 0, 1].map(k => kinds(pieces[i + k])), piece = pieces[i][0].slice(0, left), closing = [];
      left -= pieces[i][0].length;
      let node = box;
      for (const kind of here) {
        const mark = span(kind), [open, close] = BRACKETS[kind];
        if (!before.has(kind)) mark.append(unseen(`${kind}: `), drawn(close ? "bracket" : "tag", open));
        if (!after.has(kind) || left <= 0) closing.unshift(() => mark.append(drawn("bracket", close), unseen(` end of ${kind}`)));
        node.append(mark);
        node = mark;
      }
      spell(node, piece);
      closing.forEach(end => end());
    }
    if (total > limit)
      box.append(" … ", button(() => show(Infinity), `show all (${number(total)} characters)`, {className: "all"}));
  };
  show(CUT);
  return box;
}
const text = string => words([[string, ""]]);

// Statistics

function wilson(k, n) {
  const z2 = 1.959963984540054 ** 2, p = k / n, centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = Math.sqrt(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n);
  return [centre - half, k === n ? 1 : centre + half];
}

function mcnemar(b, c) {                    // exact, two-sided; the binomial tail in logarithms, from its largest term down
  const n = b + c, k = Math.min(b, c);
  let first = -n * Math.LN2, tail = 1, term = 1;
  for (let j = 1; j <= k; j++) first += Math.log((n - k + j) / j);
  for (let i = k; i > 0; i--) tail += term *= i / (n - i + 1);
  return n ? Math.min(1, 2 * Math.exp(first) * tail) : 1;
}

function share(k, n) {
  if (!n) return "none scored";
  const [low, high] = wilson(k, n).map(x => (100 * x).toFixed(1));
  return `${number(k)} of ${number(n)} scored: ${(100 * k / n).toFixed(1)}% [${low}, ${high}]`;
}

// The document

async function unpack() {
  if (typeof DecompressionStream === "undefined")
    throw new Error("This browser can't unpack the page's data (it has no DecompressionStream): " +
      "Chrome and Edge from 80, Firefox from 113 and Safari from 16.4 can.");
  const packed = atob($("data").textContent), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

let data;
try {
  data = await unpack();
} catch (error) {
  return say(/^This browser/.test(error.message) ? error.message
    : `The data can't be read, the file may be damaged (${error.message}).`);
}
const rows = data.rows, byId = new Map(rows.map(r => [r.id, r]));
const [papers, first, cards, shared] = ["papers", "judge", "cards", "shared"].map(k => new Map(Object.entries(data[k] ?? {})));
const itemOf = new Map(rows.map(r => [r, JSON.stringify([r.paper, r.item])]));

const word = v => !v ? "(no verdict)" : v.status === "graded" ? v.value : `(${v.status})`;
const outcome = v => v?.right === true ? "right" : v?.right === false ? "failed" : "unscored";
const differs = (row, v) => v?.status === "graded" && row.human.some(h => h.value !== "" && h.value !== v.value);
const of = (row, judge) => row.verdicts.find(v => v.judge === judge);
const counting = row => state.judge.size ? row.verdicts.find(v => state.judge.has(v.judge))
  : of(row, first.get(row.paper)) ?? row.verdicts[0];

// What each facet offers: value -> the papers where it occurs, later its elements.
const offered = Object.fromEntries(Object.keys(FACETS).map(f => [f, new Map()]));
for (const row of rows) {
  const values = {...row, judge: row.verdicts.map(v => v.judge), verdict: [...row.verdicts.map(word), word(counting(row))]};
  for (const facet in FACETS)
    for (const value of [values[facet]].flat()) {
      if (!offered[facet].has(value)) offered[facet].set(value, {papers: new Set()});
      offered[facet].get(value).papers.add(row.paper);
    }
}
const shownHere = choice => !state.paper.size || [...choice.papers].some(p => state.paper.has(p));

// Search: all words and phrases, anywhere in a row's texts or its shared ones

const joined = pieces => pieces.map(p => p[0]).join("");
const flat = blocks => blocks.map(b => [b.label, b.text, b.entries, joined(b.pieces ?? []), b.rows?.map(r => r.term),
  b.turns?.map(t => [t.who, joined(t.pieces), t.notes])].flat(4).join("\n")).join("\n");
const own = new Map(), common = new Map();          // lower-case texts, made when first searched or when the page is idle

function haystack(row) {
  if (!own.has(row))
    own.set(row, [row.id, row.title, row.reply, flat(row.blocks), ...row.verdicts.flatMap(v => [v.raw, v.reason]),
      ...row.more.map(m => m.raw), ...row.human.map(h => h.reason)].join("\n").toLowerCase());
  return own.get(row);
}

function sharing(word) {                    // the shared keys whose text holds a word
  if (!common.size) for (const [key, blocks] of shared) common.set(key, flat(blocks).toLowerCase());
  return new Set([...common.keys()].filter(key => common.get(key).includes(word)));
}

let searched = {};
function search() {                         // a function of a row that remembers what it found
  if (searched.text === state.search) return searched.holds;
  const terms = [...state.search.toLowerCase().matchAll(/"([^"]+)"?|[^\s"]+/g)].map(m => [m[1] ?? m[0], sharing(m[1] ?? m[0])]);
  const found = new Map();
  const holds = row => {
    if (!found.has(row))
      found.set(row, terms.every(([term, keys]) => row.shared.some(k => keys.has(k)) || haystack(row).includes(term)));
    return found.get(row);
  };
  searched = {text: state.search, holds};
  return holds;
}

// Lines and filters

function labels(row, v) {
  return row.human.length ? (differs(row, v) ? "≠ " : "") + [...new Set(row.human.map(h => h.value))].join(", ") : "";
}

function line(row, verdict, other, verdictB) {
  const {section, item, category, configuration, model, title} = row, b = other && other !== row ? labels(other, verdictB) : "";
  return {row, verdict, other, verdictB, passes: true, paper: papers.get(row.paper) ?? row.paper, section, item, category,
    configuration, model, title, human: labels(row, verdict) + (b && ` | ${b}`),
    word: word(verdict), outcome: outcome(verdict), wordB: word(verdictB), outcomeB: outcome(verdictB)};
}

const group = (row, what) => JSON.stringify([row.paper, row.section, row.item, what === "model" ? row.configuration : row.model]);

function pairs() {
  const {compare, a, b} = state;
  if (compare === "judge")
    return rows.filter(r => of(r, a) && of(r, b)).map(r => line(r, of(r, a), r, of(r, b)));
  const groups = new Map();
  for (const row of rows)
    if (row[compare] === a || row[compare] === b) {
      const key = group(row, compare);
      if (!groups.has(key)) groups.set(key, [[], []]);
      groups.get(key)[row[compare] === a ? 0 : 1].push(row);
    }
  return [...groups.values()].flatMap(([as, bs]) =>
    as.slice(0, bs.length).map((r, i) => line(r, counting(r), bs[i], counting(bs[i]))));
}

let made = {key: null, lines: []};
function lines() {
  const key = JSON.stringify([state.compare, state.a, state.b, ...state.judge]);
  if (made.key !== key) made = {key, lines: state.compare ? pairs() : rows.map(r => line(r, counting(r)))};
  return made.lines;
}

function filters() {                        // those in use: name, what must hold of a row and its verdict
  const used = [];
  for (const facet in FACETS)
    if (state[facet].size && facet !== state.compare) {
      const chosen = state[facet];
      used.push({name: facet, holds: facet === "judge" ? r => r.verdicts.some(v => chosen.has(v.judge))
        : facet === "verdict" ? (r, v) => chosen.has(word(v)) : r => chosen.has(r[facet])});
    }
  if (state.outcome) used.push({name: "outcome", holds: (r, v) => outcome(v) === state.outcome});
  if (state.differs) used.push({name: "differs", holds: differs});
  if (state.search.trim()) used.push({name: "search", holds: search()});
  return used;
}

const inPair = {"": () => true, both: l => l.outcome === "failed" && l.outcomeB === "failed",
  a: l => l.outcome === "failed" && l.outcomeB === "right", b: l => l.outcome === "right" && l.outcomeB === "failed",
  differ: l => l.verdict?.status === "graded" && l.verdictB?.status === "graded" && l.word !== l.wordB};

/* One pass over the lines. A line passes when all filters hold (of a pair: on either side). What a facet's choice
   would show counts lines that fail no filter but, at most, that facet's own. */
function pass(used) {
  const counts = Object.fromEntries([...Object.keys(FACETS), "outcome", "differs"].map(f => [f, new Map()]));
  const only = new Map(), passing = [];
  const bump = (map, value) => map.set(value, (map.get(value) ?? 0) + 1);
  const values = {outcome: (r, v) => outcome(v), differs, verdict: (r, v) => word(v)};
  for (const facet in FACETS) values[facet] ??= r => r[facet];
  const names = Object.keys(counts).filter(f => f !== "judge"), others = used.filter(u => u.name !== "judge");
  const missed = (row, verdict) => {        // the one filter that fails, "" if none does, null if several do
    let failing = "";
    for (const u of used)
      if (!u.holds(row, verdict)) {
        if (failing) return null;
        failing = u.name;
      }
    return failing;
  };
  for (const l of lines()) {
    const a = missed(l.row, l.verdict), b = l.other ? missed(l.other, l.verdictB) : null;
    l.passes = a === "" || b === "";
    if (l.passes) passing.push(l);
    else {
      if (a) bump(only, a);
      if (b && b !== a) bump(only, b);
    }
    if (a !== null || b !== null)
      for (const name of names) {
        const value = a === "" || a === name ? values[name](l.row, l.verdict) : undefined;
        const other = b === "" || b === name ? values[name](l.other, l.verdictB) : undefined;
        if (value !== undefined) bump(counts[name], value);
        if (other !== undefined && other !== value) bump(counts[name], other);
      }
    if (state.compare !== "judge")
      for (const v of l.row.verdicts) {     // another judge brings other verdicts, so each is tried
        const w = l.other && of(l.other, v.judge);
        if (others.every(u => u.holds(l.row, v)) || (w && others.every(u => u.holds(l.other, w)))) bump(counts.judge, v.judge);
      }
  }
  return {counts, only, passing};
}

function apply() {
  const start = performance.now(), used = filters(), result = pass(used);
  const shown = result.passing.filter(l => l.passes = !state.compare || inPair[state.pairs](l));
  const fresh = listed !== made.lines;
  listed = made.lines;
  if (!columns()) if (fresh) draw(); else table.refreshFilter();
  ordered = null;
  count(result.counts);
  summarise(shown, result.passing);
  nothing(shown, result, used);
  detail();
  later();
  timings.push(performance.now() - start);
}

// The table

const COLUMNS = [["paper", 90], ["section", 90], ["item", 95], ["category", 90], ["configuration", 112], ["model", 95],
  ["title", 0, "question"], ["word", 80, "verdict"], ["outcome", 97], ["wordB", 98, "verdict B"], ["outcomeB", 112, "outcome B"],
  ["human", 85]];
const compare = new Intl.Collator("en", {numeric: true}).compare, ranks = new Map();
let listed = [], layout = null, chosen = null, ordered = null;

function rank(field, value) {               // collating costs much, so each value is placed once
  let places = ranks.get(field);
  if (!places?.has(value)) {
    const all = [...new Set([...places?.keys() ?? [], ...made.lines.map(l => l[field]), value])].sort(compare);
    ranks.set(field, places = new Map(all.map((v, i) => [v, i])));
  }
  return places.get(value);
}

function columns() {                        // false if they are as they were
  const slim = wide.matches && !$("detail").hidden, hidden = [state.compare];
  if (!state.compare) hidden.push("wordB", "outcomeB");
  if (slim || narrow.matches)
    hidden.push("paper", "section", "category", "configuration", "human", "word", "wordB", slim ? "title" : "item", slim && state.compare ? "model" : "");
  if (layout === hidden.join()) return false;
  layout = hidden.join();
  table.setData([]);                        // an empty table takes its columns faster
  table.setColumns(COLUMNS.filter(([field]) => !hidden.includes(field)).map(([field, width, title = field]) => ({
    field, title, headerSortTristate: true, ...(field === (slim ? "item" : "title") ? {minWidth: 110} : {width}),
    titleFormatter: cell => make("button", {type: "button", title: "sort"}, cell.getValue()),
    formatter: cell => {
      const value = cell.getValue(), graded = field.startsWith("outcome");
      const said = graded ? OUTCOMES[value] : plain(value);
      return make("span", {dir: "auto", className: graded ? value : "", title: said}, said);
    },
    sorter: (x, y) => rank(field, x) - rank(field, y)})));
  sort();
  draw();
  return true;
}

function list() {                           // all lines that pass, for print: the table holds only those in sight
  const fields = COLUMNS.filter(([field]) => field !== state.compare && (state.compare || !field.endsWith("B")));
  const cells = l => make("tr", {}, ...fields.map(([field]) => make("td", {dir: "auto", className: field},
    field.startsWith("outcome") ? OUTCOMES[l[field]] : plain(l[field], field === "title" ? 100 : 60))));
  const head = fields.map(([field, , title = field]) => make("th", {scope: "col"}, title));
  return make("table", {id: "printed"}, make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...order().map(([, l]) => cells(l))));
}

function draw() {
  chosen = ordered = null;
  table.setData(listed);
}

function sort() {
  const field = state.sort.replace(/^-/, "");
  if (field && table.getColumn(field)) table.setSort(field, state.sort === field ? "asc" : "desc");
  else if (table.getSorters().length) table.clearSort();
  ordered = null;
}

const order = () => ordered ??= table.getRows("active").map(r => [r, r.getData()]);
const current = () => state.id && (lines().find(l => l.row.id === state.id) ?? lines().find(l => l.other?.id === state.id));

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

// Filters

function option(type, label, set, more) {   // a box or button to tick, its label and room for a count
  const input = make("input", {type, onchange: () => { set(input.checked); change(); }, ...more});
  return make("label", {className: "choice"}, input, label, span("n"));
}

function facet(name) {
  const box = make("div", {role: "group", "aria-label": name, className: "choices"});
  for (const [value, choice] of [...offered[name]].sort((x, y) => name === "paper" ? 0 : compare(x[0], y[0]))) {
    const shown = bdi((name === "paper" && papers.get(value)) || value || "(none)");
    choice.label = option("checkbox", shown, on => state[name][on ? "add" : "delete"](value));
    box.append(choice.label);
  }
  const open = name === "paper" || (offered[name].size <= 12 && !narrow.matches);
  return make("details", {open}, make("summary", {}, name, " ", span("n")), box);
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
    const compared = name === state.compare, summary = $("facets").children[i].firstChild;
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
  if ($("search") !== document.activeElement) $("search").value = state.search;
  $("compare").value = state.compare;
  for (const side of ["a", "b"]) {
    $(side).parentNode.hidden = !state.compare;
    const there = [...offered[state.compare] ?? []].filter(([v, choice]) => shownHere(choice) || v === state[side]);
    $(side).replaceChildren(...there.map(([v]) => make("option", {value: v, selected: v === state[side]}, plain(v) || "(none)")));
  }
}

function change() {
  say("");
  apply();
}

function clear() {
  for (const facet in FACETS) state[facet].clear();
  Object.assign(state, {outcome: "", differs: false, search: "", pairs: ""});
  $("search").value = "";
  change();
}

function meet() {                           // A and B to begin with: the first two values that meet in a pair
  const what = state.compare, groups = new Map();
  [state.a, state.b = state.a] = offered[what].keys();
  for (const row of rows.filter(r => !state.paper.size || state.paper.has(r.paper))) {
    const key = what === "judge" ? row : group(row, what);
    const met = new Set([...groups.get(key) ?? [], ...what === "judge" ? row.verdicts.map(v => v.judge) : [row[what]]]);
    groups.set(key, met);
    if (met.size > 1) return [state.a, state.b] = met;
  }
}

// Counts and rates

function summarise(shown, passing) {
  const what = state.compare ? "pairs" : "rows", items = new Set(shown.map(l => itemOf.get(l.row))).size, box = $("summary");
  box.replaceChildren(span("", make("b", {}, number(shown.length)),
    ` of ${number(listed.length)} ${what} · ${number(items)} item${items === 1 ? "" : "s"}`));
  for (const [field, name] of state.compare ? [["outcome", "A fails "], ["outcomeB", "B fails "]] : [["outcome", "failures "]]) {
    const n = {failed: 0, right: 0, unscored: 0};
    for (const l of shown) n[l[field]]++;
    box.append(span("", name, make("b", {}, share(n.failed, n.failed + n.right)), ` · ${number(n.unscored)} unscored`));
  }
  if (items < shown.length)
    box.append(span("soft", `Intervals${state.compare ? " and p" : ""} take ${what} as independent; several share an item.`));
  const used = [...new Set(shown.map(l => l.verdict ? `${l.row.paper} ${l.verdict.judge}` : ""))].filter(key => cards.has(key));
  if (used.length <= 2) for (const key of used) box.append(span("soft", "judge ", bdi(key), ": ", bdi(cards.get(key))));
  $("pairs").hidden = !state.compare;
  if (!state.compare) return;
  const n = Object.fromEntries(Object.keys(PAIRS).map(key => [key, passing.filter(inPair[key]).length]));
  const right = passing.filter(l => l.outcome === "right" && l.outcomeB === "right").length;
  const lost = passing.length - right - n.both - n.a - n.b, p = mcnemar(n.a, n.b);
  const cells = (head, ...texts) => make("tr", {}, make("th", {}, head), ...texts.map(t => make("td", {}, t)));
  const choices = Object.entries(PAIRS).map(([key, name]) => button(() => {
    state.pairs = key;
    change();
    $("pairs").querySelector("[aria-pressed=true]").focus();
  }, `${name} (${number(n[key])})`, {"aria-pressed": String(state.pairs === key)}));
  $("pairs").replaceChildren(make("div", {role: "group", "aria-label": "which pairs"}, ...choices),
    make("table", {}, make("tr", {}, ...["pairs", "B right", "B wrong"].map(t => make("th", {}, t))),
      cells("A right", number(right), number(n.b)), cells("A wrong", number(n.a), number(n.both))),
    make("p", {}, `One or both unscored: ${number(lost)}. McNemar’s exact p`,
      n.a + n.b ? p < 0.0001 ? " < 0.0001." : ` = ${p.toFixed(4)}.` : ": no pair is right on one side only.",
      span("soft", "A pair agrees in all but what is compared; filters hold for a pair if they hold on either side.")));
}

function nothing(shown, {only, passing}, used) {
  $("nothing").hidden = shown.length > 0;
  const [name, n] = [...only].sort((x, y) => y[1] - x[1])[0] ?? [];
  const known = {differs: "judge differs from human", outcome: OUTCOMES[state.outcome]};
  $("nothing").replaceChildren(make("b", {}, "Nothing matches. "),
    passing.length ? `The tightest filter is “${PAIRS[state.pairs]}”: ${number(passing.length)} pairs match without it. `
      : name ? `The tightest filter is “${known[name] ?? name}”: ${number(n)} match without it. `
      : used.length ? "No single filter alone is the reason. "
      : state.compare ? "A and B meet in no pair. " : "The file holds no rows. ",
    button(clear, "Clear filters"));
}

// One reply, or two beside each other

const shapes = {
  text: b => text(b.text),
  list: b => make("ul", {}, ...b.entries.map(e => make("li", {}, text(e)))),
  marked(b) {
    const used = Object.keys(BRACKETS).filter(k => b.pieces.some(p => p[1].split(" ").includes(k)));
    const legend = used.flatMap(k => [" ", span(k, BRACKETS[k][0], k, BRACKETS[k][1])]);
    return make("div", {}, soft(used.length ? "marks:" : "no marks", ...legend), words(b.pieces));
  },
  aligned(b) {
    const head = b.columns.map((c, i) => make("th", {scope: "col"}, bdi(c), ...Object.entries(MATCHES).map(([key, name]) =>
      make("small", {}, `${name} ${b.rows.filter(r => r.cells[i] === key).length}`))));
    const body = b.rows.map(r => make("tr", {}, make("th", {scope: "row"}, text(r.term)), ...r.cells.map(c =>
      Object.hasOwn(MATCHES, c) ? make("td", {className: c}, MATCHES[c]) : make("td", {}, plain(c)))));
    return make("div", {className: "wide"}, make("table", {className: "aligned"},
      make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "term"), ...head)), make("tbody", {}, ...body)));
  },
};

const under = level => (label, ...children) => make("div", {className: "block"}, make(level, {}, bdi(label)), ...children);
const section = under("h4"), above = under("h3");
const block = (b, under = section) => under(b.label, Object.hasOwn(shapes, b.kind) ? shapes[b.kind](b) : text(JSON.stringify(b)));
const facts = (...parts) => make("p", {className: "fact"}, ...parts.filter(Boolean).flatMap((p, i) => [i ? " · " : "", p]));
const quoted = (label, string) => string ? [soft(label), text(string)] : [];
const judged = (who, v, ...more) => make("div", {className: "verdict"}, facts(make("b", {}, bdi(who)),
  bdi(v.status === "graded" ? v.value : v.status), ...more), ...quoted("reason", v.reason), ...quoted("raw reply", v.raw));
const graded = v => span(outcome(v), OUTCOMES[outcome(v)]);

function turn(t, i) {
  const notes = t.notes.map(n => make("li", {}, text(n)));
  return make("div", {className: "turn"}, make("p", {className: "who"}, `${i + 1} `, bdi(t.who)), words(t.pieces),
    notes.length ? make("ul", {className: "notes"}, ...notes) : "");
}

function verdict(row, v) {
  const card = cards.get(`${row.paper} ${v.judge}`);
  return judged(v.judge, v, graded(v), differs(row, v) && "≠ differs from human", card && span("soft", bdi(card)));
}

/* A side's parts by name. Parts of one name stand beside each other, so that turns and blocks can be compared. */
function parts(row, side, v) {
  const found = new Map();
  const said = [bdi(row.model), " · ", bdi(row.configuration), " · ", graded(v)];
  found.set("head", make("h3", {}, side && span("tag", side), " ", ...said));
  found.set("reply", section("reply", row.reply_status ? make("p", {className: "note"}, "no reply: ", bdi(row.reply_status)) : "",
    row.truncated ? make("p", {className: "note"}, "The reply was cut off at the token limit.") : "",
    row.reply || !row.reply_status ? text(row.reply) : ""));
  row.blocks.forEach((b, i) => {
    if (b.kind !== "dialogue") return found.set(`${b.kind} ${found.has(`${b.kind} ${b.label}`) ? i : b.label}`, block(b));
    found.set(`dialogue ${i}`, make("h4", {}, bdi(b.label)));
    b.turns.forEach((t, k) => found.set(`dialogue ${i} ${k}`, turn(t, k)));
  });
  found.set("verdicts", section("verdicts", ...row.verdicts.map(v => verdict(row, v)), row.verdicts.length ? "" : "none"));
  if (row.more.length)
    found.set("more", section("other questions to the judges", ...row.more.map(m => judged(m.task, m, bdi(m.judge)))));
  if (row.human.length)
    found.set("human", section("human labels",
      ...row.human.map(h => judged(h.by, {...h, status: "graded"}, h.type && bdi(h.type)))));
  return found;
}

let opened = "", unfolded = true;           // the open view; whether the blocks before the reply are shown
function detail() {
  const box = $("detail"), l = current(), row = l?.row ?? byId.get(state.id);
  box.hidden = !row;
  columns();
  const at = place(), key = JSON.stringify([state.id, state.compare, state.a, state.b, ...state.judge]);
  mark(at);
  if (!row) return opened = "";
  if (opened !== key) {
    const pair = l?.other && l.other !== row, other = pair ? l.other : byId.get(row.beside);
    const sides = [parts(row, pair ? "A" : other ? "this" : "", l ? l.verdict : counting(row))];
    if (other) sides.push(parts(other, pair ? "B" : "beside", pair ? l.verdictB : counting(other)));
    const names = [...sides[0].keys()];
    [...sides.at(-1).keys()].forEach((n, i, all) => names.includes(n) || names.splice(names.indexOf(all[i - 1]) + 1, 0, n));
    const before = [...new Set([...row.shared, ...(other?.shared ?? [])])].flatMap(k => shared.get(k) ?? []);
    const grid = make("div", {className: other ? "sides two" : "sides"});
    const once = names.filter(n => n.startsWith("aligned") && other && sides[0].get(n)?.isEqualNode(sides[1].get(n)));
    once.forEach(n => sides[1].delete(n));       // a table that has both sides already
    sides.forEach((side, i) => side.forEach((node, name) => {
      Object.assign(node.style, {gridRow: names.indexOf(name) + 1, gridColumn: once.includes(name) ? "1 / -1" : i + 1});
      grid.append(node);
    }));
    unfolded = $("reply").querySelector(":scope > details")?.open ?? unfolded;
    $("reply").replaceChildren(
      make("h2", {dir: "auto"}, plain(row.title)),
      facts(...[papers.get(row.paper) ?? row.paper, row.section, row.item, row.category].filter(Boolean).map(bdi)),
      soft("id ", bdi(row.id), other || row.beside ? `; ${pair ? "B" : "beside"} ` : "", other ? bdi(other.id) : bdi(row.beside),
        row.beside && !other ? " (not in this file)" : ""),
      before.length ? make("details", {open: unfolded},
        make("summary", {}, bdi(before.map(b => b.label).join(" · "))), ...before.map(b => block(b, above))) : "", grid);
    box.scrollTop = 0;
  }
  opened = key;
  $("place").textContent = at < 0 ? "not among the rows shown" : `${number(at + 1)} of ${number(order().length)}`;
}

function close() {
  select("", false);
  holder.focus();
}

// The address: the whole view in its fragment

function fragment() {
  const query = new URLSearchParams();
  for (const [facet, key] of Object.entries(FACETS)) for (const value of state[facet]) query.append(key, value);
  if (state.differs) query.set("d", "1");
  for (const [name, key] of Object.entries(SINGLE))
    if (state[name] || (state.compare && /^[ab]$/.test(name))) query.set(key, state[name]);
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

function restore() {
  const query = new URLSearchParams(location.hash.slice(1)), lost = [];
  const take = (key, known, what) => query.getAll(key).filter(v => known(v) || void lost.push(`${what} “${plain(v, 80)}”`));
  for (const [facet, key] of Object.entries(FACETS)) state[facet] = new Set(take(key, v => offered[facet].has(v), facet));
  state.differs = take("d", v => v === "1", "filter").length > 0;
  state.search = query.get("q") ?? "";
  [state.outcome = ""] = take("o", v => Object.hasOwn(OUTCOMES, v), "filter");
  [state.sort = ""] = take("sort", v => COLUMNS.some(c => c[0] === v.replace(/^-/, "")), "column");
  [state.compare = ""] = take("x", v => Object.hasOwn(COMPARED, v), "comparison");
  for (const side of ["a", "b"])
    [state[side]] = take(side, v => state.compare && offered[state.compare].has(v), side.toUpperCase());
  [state.pairs = ""] = take("w", v => Object.hasOwn(PAIRS, v), "choice of pairs");
  [state.id = ""] = take("id", v => byId.has(v), "row");
  const keys = ["d", ...Object.values(FACETS), ...Object.values(SINGLE)];
  for (const key of new Set(query.keys())) if (!keys.includes(key)) lost.push(`setting “${plain(key, 80)}”`);
  if (state.compare && (state.a === undefined || state.b === undefined)) meet();
  $("search").value = state.search;
  apply();
  sort();
  select(state.id, false);
  say(lost.length ? `The link names what this file has not: ${lost.join(", ")}. The rest is shown.` : "");
}

// Exports

function cell(value) {                      // as bedside.tables.cell_text: never a spreadsheet formula
  const safe = /^[=+\-@\t\r]/.test(value) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? "'" + value : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv() {
  const head = ["id", "paper", "section", "item", "model", "configuration", "category", "question", "reply", "reply_status",
    "judge", "status", "value", "right", "human", "raw"];
  const row = (r, v) => {
    const values = {...v, ...r, question: r.title, human: r.human.map(h => `${h.by}: ${h.value}`).join("; ")};
    return head.map(key => String(values[key] ?? ""));
  };
  const body = order().flatMap(([, l]) => [row(l.row, l.verdict), ...(l.other ? [row(l.other, l.verdictB)] : [])]);
  return "\ufeff" + [head, ...body].map(r => r.map(cell).join(",") + "\r\n").join("");
}

function download() {
  const url = URL.createObjectURL(new Blob([csv()], {type: "text/csv"}));
  make("a", {href: url, download: `bedside_${data.profile}.csv`}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function copy() {
  remember();
  const address = $("address");
  address.value = location.href;
  try {
    await navigator.clipboard.writeText(location.href);
    address.hidden = true;
    say("Link copied.");
  } catch {                                 // no clipboard here, or not allowed
    address.hidden = false;
    address.select();
    say("The link is selected in the field: copy it from there.");
  }
}

function say(words) {
  $("message").textContent = words;
}

// Bringing it together

$("app").hidden = false;
document.querySelector(".frame nav").hidden = window.parent !== window;      // a notebook shows this page, and no other
$("filters").hidden = narrow.matches;
$("facets").append(...Object.keys(FACETS).map(facet));
$("outcome").append(...["", ...Object.keys(OUTCOMES)].map(value =>
  option("radio", span("", OUTCOMES[value] ?? "all"), () => { state.outcome = value; }, {name: "outcome"})));
$("differs").append(option("checkbox", span("", "judge differs from human"), on => { state.differs = on; }));
$("compare").append(...Object.entries(COMPARED).map(([value, name]) => make("option", {value}, name)));
const table = new Tabulator("#table", {data: [], columns: [], height: "100%", rowHeight: 30, layout: "fitColumns",
  keybindings: false, columnHeaderSortMulti: false, renderVerticalBuffer: 120});      // pixels: rows out of sight cost time too
await new Promise(built => table.on("tableBuilt", built));
const holder = $("table").querySelector(".tabulator-tableholder");
$("table").removeAttribute("aria-owns");             // what takes the focus between a grid and its rows is their group
holder.setAttribute("role", "rowgroup");
holder.querySelector(".tabulator-table").removeAttribute("role");
table.setFilter(l => l.passes);
$("table").addEventListener("click", () => {         // after the table's own listeners: a column's head may have sorted
  const [by] = table.getSorters(), sorted = by ? (by.dir === "desc" ? "-" : "") + by.field : "";
  if (sorted === state.sort || (!by && !table.getColumn(state.sort.replace(/^-/, "")))) return;
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
  if (state.compare) meet();
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
  document.querySelectorAll("#detail details").forEach(d => { d.open = true; });
};

document.addEventListener("keydown", event => {
  const at = event.target, next = i => i + 1, previous = i => i - 1;
  const keys = {ArrowDown: next, j: next, ArrowUp: previous, k: previous, Home: () => 0, End: (_, n) => n - 1};
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if ($("keys").open || at.matches("input:not([type=checkbox]), select")) return;
  if (Object.hasOwn(keys, event.key)) step(keys[event.key]);
  else if (event.key === "Enter" && !at.matches("a, button, input, summary")) {
    if (!state.id) step(i => Math.max(i, 0));
    $("detail").focus();
  } else if (event.key === "Escape" && state.id) close();
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
})();
