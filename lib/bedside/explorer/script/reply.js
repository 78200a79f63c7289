// One reply, or two beside each other

const FOLDED = 400;                         // characters from which a heading is longer than its lines (explorer.css)

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
  bdi(v.status === "graded" ? v.value : v.status), ...more), ...quoted("reason", v.reason),
  ...v.criteria ? [] : quoted("raw reply", v.raw));
const graded = v => span(outcome(v), OUTCOMES[outcome(v)]);

function turn(t, i) {
  const notes = t.notes.map(n => make("li", {}, text(n)));
  return make("div", {className: "turn"}, make("p", {className: "who"}, `${i + 1} `, bdi(t.who)), words(t.pieces),
    notes.length ? make("ul", {className: "notes"}, ...notes) : "");
}

function verdict(row, v) {
  const card = cards.get(`${row.paper} ${v.judge}`);
  const box = judged(v.judge, v, graded(v), differs(row, v) && "≠ differs from human", card && span("soft", bdi(card)));
  box.append(judgesExchange(v));
  return box;
}

function criteria(row) {                    // a table: what each judge says of each criterion
  const judges = row.verdicts.filter(v => v.criteria), cells = judges.map(v => new Map(v.criteria.map(c => [c.id, c])));
  const of = c => c.points ? `${c.text} (${c.points > 0 ? "+" : ""}${c.points})` : c.text;
  const cell = c => make("td", {className: c && lacks(c) ? "failed" : ""}, c ? plain(c.said) : "");
  const head = ["criterion", ...judges.map(v => v.judge)].map(h => make("th", {scope: "col"}, bdi(h)));
  const body = judges[0].criteria.map(({id}) => make("tr", {}, make("th", {scope: "row"}, text(of(cells[0].get(id)))),
    ...cells.map(known => cell(known.get(id)))));
  return make("div", {className: "wide"}, make("table", {className: "aligned"}, make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body)));
}

function heading(title) {                   // whole; a very long one is folded after some lines
  const box = make("h2", {dir: "auto"}, plain(title, Infinity));
  if (title.length <= FOLDED) return [box];
  const all = button(() => { box.className = ""; all.remove(); }, `show all (${number(title.length)} characters)`, {className: "all"});
  box.className = "folded";
  return [box, all];
}

/* A side's parts by name. Parts of one name stand beside each other, so that turns and blocks can be compared. */
function parts(row, side = "", v) {
  const found = new Map();
  const said = [bdi(row.model), " · ", bdi(row.configuration), " · ", graded(v)];
  found.set("head", make("h3", {}, side && span("tag", side), " ", ...said));
  found.set("mark", marks(row));
  found.set("reply", section("reply", row.reply_status ? make("p", {className: "note"}, "no reply: ", bdi(row.reply_status)) : "",
    row.truncated ? make("p", {className: "note"}, "The reply was cut off at the token limit.") : "",
    row.reply || !row.reply_status ? text(row.reply) : ""));
  found.set("sent", exchange(row));
  row.blocks.forEach((b, i) => {
    if (b.kind !== "dialogue") return found.set(`${b.kind} ${found.has(`${b.kind} ${b.label}`) ? i : b.label}`, block(b));
    found.set(`dialogue ${i}`, make("h4", {}, bdi(b.label)));
    b.turns.forEach((t, k) => found.set(`dialogue ${i} ${k}`, turn(t, k)));
  });
  if (row.verdicts.some(v => v.criteria)) found.set("criteria", section("criteria", criteria(row)));
  found.set("verdicts", section("verdicts", row.verdicts.length
    ? make("div", {className: "judges"}, ...row.verdicts.map(v => verdict(row, v))) : "none"));
  if (row.more.length)
    found.set("more", section("other questions to the judges", ...row.more.map(m => judged(m.task, m, bdi(m.judge)))));
  if (row.human.length)
    found.set("human", section("human labels",
      ...row.human.map(h => judged(h.by, {...h, status: "graded"}, h.type && bdi(h.type)))));
  return found;
}

const openRow = () => current()?.row ?? byId.get(state.id);
let opened = "", unfolded = true;           // the open view; whether the blocks before the reply are shown
function detail() {
  const box = $("detail"), l = current(), row = l?.row ?? byId.get(state.id);
  box.hidden = !row;
  columns();
  const at = place(), key = JSON.stringify([state.id, state.compare, state.a, state.b, ...state.judge, state.compare === "models" && [...state.model]]);
  mark(at);
  if (!row) return opened = "";
  if (opened !== key) {
    const pair = l?.other && l.other !== row, many = state.compare === "models" && l, other = many ? null : pair ? l.other : byId.get(row.beside);
    const called = many ? [] : pair ? ["A", "B"] : other ? ["this", "beside"] : [];
    const given = pair || many ? l.sides : [[row, l ? l.verdict : counting(row)], ...(other ? [[other, counting(other)]] : [])];
    const sides = given.map(([r, v], i) => parts(r, called[i] ?? "", v));
    if (many) given.forEach(([r], i) => sides[i].set("id", soft("id ", bdi(r.id))));
    const names = [...sides[0].keys()];
    for (const side of sides.slice(1))
      [...side.keys()].forEach((n, i, all) => names.includes(n) || names.splice(names.indexOf(all[i - 1]) + 1, 0, n));
    const before = [...new Set(given.flatMap(([r]) => r.shared))].flatMap(k => shared.get(k) ?? []);
    const grid = make("div", {className: `sides${sides.length > 1 ? " two" : ""}`});
    if (sides.length > 2) {                          // as many as there are, to be scrolled
      Object.assign(grid, {className: "sides two many", tabIndex: 0, role: "group", ariaLabel: "replies beside each other"});
      grid.style.setProperty("--sides", sides.length);
    }
    const once = names.filter(n => n.startsWith("aligned") && sides.length === 2 && sides[0].get(n)?.isEqualNode(sides[1].get(n)));
    once.forEach(n => sides[1].delete(n));       // a table that has both sides already
    sides.forEach((side, i) => side.forEach((node, name) => {
      Object.assign(node.style, {gridRow: names.indexOf(name) + 1, gridColumn: once.includes(name) ? "1 / -1" : i + 1});
      grid.append(node);
    }));
    unfolded = $("reply").querySelector(":scope > details")?.open ?? unfolded;
    $("reply").replaceChildren(
      ...heading(row.title),
      facts(...[papers.get(row.paper) ?? row.paper, row.section, row.item, row.category].filter(Boolean).map(bdi)),
      many ? "" : soft("id ", bdi(row.id), other || row.beside ? `; ${pair ? "B" : "beside"} ` : "", other ? bdi(other.id) : bdi(row.beside),
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
