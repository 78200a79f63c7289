// Places marked in the answer, by keyboard, mouse or touch: [from, to] in its text.
const answer = make("p", {className: "text answer", dir: "auto"});
const spans = {text: "", marks: [], words: [], anchor: -1, head: -1, held: null};

function placeOf(text, span) {              // of a mark with this text: "air" isn't in "Hair" if it is a word anywhere
  const part = "[\\p{L}\\p{M}\\p{N}_]", quoted = span.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const whole = text.search(new RegExp(`(?<!${part})${quoted}(?!${part})`, "u"));
  const from = whole < 0 ? text.indexOf(span) : whole;
  return [from, from + span.length];
}

function beginSpans(text, marked) {
  const words = [...new Intl.Segmenter(undefined, {granularity: "word"}).segment(text)].filter(s => s.isWordLike);
  const marks = marked.map(s => placeOf(text, s)).filter(([from]) => from >= 0);
  Object.assign(spans, {text, marks, words: words.map(s => [s.index, s.index + s.segment.length]), anchor: -1, head: -1, held: null});
}

const markedTexts = () => spans.marks.map(m => spans.text.slice(...m));
const touching = (ranges, [from, to]) => ranges.filter(r => r[0] < to && from < r[1]);
const around = ranges => [Math.min(...ranges.map(r => r[0])), Math.max(...ranges.map(r => r[1]))];

function cursor() {
  const {anchor, head, words} = spans;
  return head < 0 ? null : around([words[anchor], words[head]]);
}

function drawSpans() {
  const at = cursor(), {text, marks} = spans, within = (r, from, to) => r && r[0] <= from && to <= r[1];
  const cuts = [...new Set([0, text.length, ...marks.flat(), ...at ?? []])].sort((a, b) => a - b);
  answer.replaceChildren(...cuts.slice(1).map((to, i) => {
    const piece = text.slice(cuts[i], to), n = marks.findIndex(m => within(m, cuts[i], to));
    const className = within(at, cuts[i], to) ? "cursor" : "";
    if (n >= 0) return make("mark", {className, "data-at": n, title: "click to remove"}, piece);
    return className ? span(className, piece) : piece;
  }));
}

function move(event) {
  const {words} = spans;
  if (!words.length) return;
  getSelection().removeAllRanges();
  const forward = (event.key === "ArrowRight") !== (getComputedStyle(answer).direction === "rtl");
  const to = {Home: 0, End: words.length - 1}[event.key] ?? (spans.head < 0 ? 0 : spans.head + (forward ? 1 : -1));
  Object.assign(spans, {held: null, head: Math.max(0, Math.min(words.length - 1, to))});
  if (!event.shiftKey || spans.anchor < 0) spans.anchor = spans.head;
  drawSpans();
  answer.querySelector(".cursor")?.scrollIntoView({block: "nearest"});
}

function selected() {
  const range = getSelection().rangeCount ? getSelection().getRangeAt(0) : null;
  if (!range || range.collapsed || !range.intersectsNode(answer)) return null;
  const offset = (node, at, outside) => {
    if (!answer.contains(node)) return outside;
    const before = document.createRange();
    before.setStart(answer, 0);
    before.setEnd(node, at);
    return before.toString().length;
  };
  return [offset(range.startContainer, range.startOffset, 0), offset(range.endContainer, range.endOffset, spans.text.length)];
}

function whole([from, to]) {                 // a word that is selected in part counts as selected: nobody means half a word
  const cut = spans.text.slice(from, to);
  const trimmed = [from + cut.length - cut.trimStart().length, to - cut.length + cut.trimEnd().length];
  return trimmed[0] < trimmed[1] ? around([trimmed, ...touching(spans.words, trimmed)]) : null;
}

function mark() {
  if (!marking()) return say("first choose the value that needs a mark", true);
  const made = whole(selected() ?? spans.held ?? cursor() ?? [0, 0]);
  if (!made) return say("nothing is selected: use → ← and Shift, or the mouse", true);
  const touched = touching(spans.marks, made);      // marks that overlap become one
  spans.marks = [...spans.marks.filter(m => !touched.includes(m)), around([made, ...touched])];
  getSelection().removeAllRanges();
  Object.assign(spans, {held: null, anchor: spans.head});
  draw();
}

function unmark(at) {
  spans.marks.splice(at, 1);
  draw();
}

// A finger selects by handles that the browser draws and that say nothing when it is done, so a button marks what was
// selected last. A mouse says so by its button.
let pressed = null;                          // where the mouse's button went down
answer.addEventListener("mousedown", event => { pressed = event.button === 0 ? event.target : null; spans.held = null; });
document.addEventListener("selectionchange", () => { spans.held = selected() ?? spans.held; });
document.addEventListener("mouseup", event => {
  const clicked = pressed?.matches("mark") && pressed === event.target ? Number(pressed.dataset.at) : -1;
  if (pressed) setTimeout(() => {         // the browser then knows what is selected
    if (marking() && selected()) mark(); else if (marking() && clicked >= 0) unmark(clicked);
  });
  pressed = null;
});
