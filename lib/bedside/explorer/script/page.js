/* The failure explorer. Every text of the document is hostile: it reaches the page as text nodes only.

   The files of this folder are the body of one function, in the order of SCRIPT in explorer/__init__.py. A *line* is
   what the table shows: a row with the verdict that counts, or rows (or one row's verdicts) that are compared, its
   *sides*. `state` is the view; it is the same as the address's fragment. */
const FACETS = {paper: "p", section: "s", model: "m", category: "c", configuration: "g", judge: "j", verdict: "v",
  score: "f", criterion: "t", mark: "k"};
const SINGLE = {outcome: "o", search: "q", sort: "sort", compare: "x", a: "a", b: "b", pairs: "w", id: "id"};
const OUTCOMES = {failed: "✗ failed", right: "✓ right", unscored: "– unscored"};
const COMPARED = {"": "nothing", models: "all models", model: "two models", source: "two of any kind", judge: "two judges",
  configuration: "two configurations"};
const PAIRS = {"": "all pairs", both: "both failed", a: "only A failed", b: "only B failed", differ: "they disagree"};
const BANDS = [["below 0", -Infinity], ["0 to 24", 0], ["25 to 49", 25], ["50 to 74", 50], ["75 to 99", 75], ["100", 100]];      // percent
const MANY = 40;                    // criteria from which on their groups are filtered by
const MISSED = {"": "all items", all: "all fail", some: "some fail", none: "none fails"};
const BY = {model: "models", rules: "rules", person: "people", written: "written answers"};
const MATCHES = {matched: "● matched", missed: "○ missed", spurious: "✕ spurious"};
const narrow = matchMedia("(max-width: 50rem)"), wide = matchMedia("(min-width: 70rem)");      // as in explorer.css
const state = {differs: false, disagree: false, ...Object.fromEntries(Object.keys(FACETS).map(f => [f, new Set()])),
  ...Object.fromEntries(Object.keys(SINGLE).map(k => [k, ""]))};
const timings = [];                 // milliseconds of each apply, for the benchmark

const total = numbers => numbers.reduce((sum, x) => sum + x, 0);
const entry = (map, key, fresh) => map.get(key) ?? map.set(key, fresh()).get(key);
