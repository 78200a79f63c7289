// The document

async function unpack(parcel) {
  if (typeof DecompressionStream === "undefined")
    throw new Error("This browser can't unpack the page's data (it has no DecompressionStream): " +
      "use Chrome or Edge from 80, Firefox from 113 or Safari from 16.4.");
  const packed = atob($(parcel).textContent), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

let data;
try {
  data = await unpack("data");
} catch (error) {
  return say(/^This browser/.test(error.message) ? error.message
    : `The data can't be read; the file may be damaged (${error.message}).`);
}
const rows = data.rows, byId = new Map(rows.map(r => [r.id, r]));
const [papers, first, cards, shared] = ["papers", "judge", "cards", "shared"].map(k => new Map(Object.entries(data[k] ?? {})));
const itemOf = new Map(rows.map(r => [r, JSON.stringify([r.paper, r.item])]));
const kindOf = new Map(rows.map(r => [r, JSON.stringify([r.paper, r.section, r.by])]));

const word = v => !v ? "(no verdict)" : v.status === "graded" ? v.value : `(${v.status})`;
const outcome = v => v?.right === true ? "right" : v?.right === false ? "failed" : "unscored";
const scoreOf = v => v?.status !== "graded" ? null : v.score ?? (v.value !== "" && isFinite(v.value) ? Number(v.value) : null);
const band = v => v?.score == null ? "" : BANDS.findLast(([, from]) => v.score >= from)[0];
const lacks = c => c.points > 0 ? c.said === "not met" : c.points < 0 && c.said === "met";
const byName = new Set(rows.flatMap(r => r.verdicts.flatMap(v => (v.criteria ?? []).map(c => c.text)))).size > MANY ? "group" : "text";
const failedOf = v => [...new Set((v?.criteria ?? []).filter(lacks).map(c => c[byName]))];
// how far judges that graded a reply are apart: of scores in points, else 1 or 0
function apart(row) {
  const graded = row.verdicts.filter(v => v.status === "graded"), scores = graded.map(v => v.score);
  if (graded.length < 2) return 0;
  return scores.every(Number.isFinite) ? Math.max(...scores) - Math.min(...scores) : Number(disagree(row));
}
// whether judges that graded a reply say different things of it
const disagree = row => new Set(row.verdicts.filter(v => v.status === "graded").map(v => v.right ?? v.value)).size > 1;
const several = rows.some(row => row.verdicts.filter(v => v.status === "graded").length > 1);
const differs = (row, v) => v?.status === "graded" && row.human.some(h => h.value !== "" && h.value !== v.value);
const of = (row, judge) => row.verdicts.find(v => v.judge === judge);
const counting = row => state.judge.size ? row.verdicts.find(v => state.judge.has(v.judge))
  : of(row, first.get(row.paper)) ?? row.verdicts[0];

// The values that each facet offers: value -> the papers where it occurs, later its elements.
const offered = Object.fromEntries(Object.keys(FACETS).map(f => [f, new Map()]));
for (const row of rows) {
  const values = {...row, judge: row.verdicts.map(v => v.judge), verdict: [...row.verdicts.map(word), word(counting(row))],
    score: row.verdicts.map(band), criterion: row.verdicts.flatMap(failedOf)};
  for (const facet in FACETS)
    for (const value of [values[facet]].flat()) entry(offered[facet], value, () => ({papers: new Set()})).papers.add(row.paper);
}
const makers = new Map();                   // who wrote each name's replies: a model, if it wrote any of them
for (const row of rows) if (row.by === "model" || !makers.has(row.model)) makers.set(row.model, row.by);
const kind = by => Object.hasOwn(BY, by) ? BY[by] : plain(by);
const placeOf = by => Object.hasOwn(BY, by) ? Object.keys(BY).indexOf(by) : 9;       // models come first
const shownHere = choice => !state.paper.size || [...choice.papers].some(p => state.paper.has(p));

// Search: all words and phrases, anywhere in a row's texts or its shared ones

const joined = pieces => pieces.map(p => p[0]).join("");
const flat = blocks => blocks.map(b => [b.label, b.text, b.entries, joined(b.pieces ?? []), b.rows?.map(r => r.term),
  b.turns?.map(t => [t.who, joined(t.pieces), t.notes])].flat(4).join("\n")).join("\n");
const own = new Map(), common = new Map();          // lower-case texts, made when first searched or when the page is idle

function haystack(row) {
  if (!own.has(row))
    own.set(row, [row.id, row.title, row.note, row.reply, flat(row.blocks), ...row.verdicts.flatMap(v => [v.raw, v.reason]),
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
