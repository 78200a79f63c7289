// Places marked in the answer, by keyboard, mouse or touch: [from, to] in its text.

function spansIn(answer, { wanted, say, changed }) {
  let text = "", marks = [], words = [], anchor = -1, head = -1, held = null, pressed = false;

  function begin(answered, spans) {
    text = answered;
    words = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)]
      .filter((s) => s.isWordLike).map((s) => [s.index, s.index + s.segment.length]);
    marks = spans.map((s) => placeOf(text, s)).filter(([from]) => from >= 0);
    anchor = head = -1;
    held = null;
  }

  function draw() {
    const at = cursor();
    const cuts = [...new Set([0, text.length, ...marks.flat(), ...(at ?? [])])].sort((a, b) => a - b);
    const within = (range, from, to) => range && range[0] <= from && to <= range[1];
    answer.replaceChildren(...cuts.slice(1).map((to, i) => {
      const from = cuts[i], piece = text.slice(from, to), here = within(at, from, to);
      const name = here ? "cursor" : "", mine = marks.findIndex((m) => within(m, from, to));
      if (mine >= 0) return element("mark", { class: name, "data-at": mine, title: "click to remove" }, piece);
      return here ? element("span", { class: name }, piece) : piece;
    }));
  }

  function cursor() {
    return head < 0 ? null : [words[Math.min(anchor, head)][0], words[Math.max(anchor, head)][1]];
  }

  function move(event) {
    if (!words.length) return;
    getSelection().removeAllRanges();
    held = null;
    const forward = (event.key === "ArrowRight") !== (getComputedStyle(answer).direction === "rtl");
    const to = { Home: 0, End: words.length - 1 }[event.key] ?? (head < 0 ? 0 : head + (forward ? 1 : -1));
    head = Math.max(0, Math.min(words.length - 1, to));
    if (!event.shiftKey || anchor < 0) anchor = head;
    draw();
    answer.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
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
    return [offset(range.startContainer, range.startOffset, 0), offset(range.endContainer, range.endOffset, text.length)];
  }

  function whole([from, to]) {      // a word that is selected in part counts as selected: nobody means half a word
    const cut = text.slice(from, to);
    from += cut.length - cut.trimStart().length;
    to -= cut.length - cut.trimEnd().length;
    const touched = from < to ? words.filter((w) => w[0] < to && from < w[1]) : [];
    return [Math.min(from, ...touched.map((w) => w[0])), Math.max(to, ...touched.map((w) => w[1]))];
  }

  function mark() {
    if (!wanted()) return say("first choose the value that needs a mark", true);
    const [from, to] = whole(selected() ?? held ?? cursor() ?? [0, 0]);
    if (from >= to) return say("nothing is selected; use → ← and Shift, or the mouse, in the answer", true);
    const touched = marks.filter((m) => m[0] < to && from < m[1]);      // marks that overlap become one
    const one = [Math.min(from, ...touched.map((m) => m[0])), Math.max(to, ...touched.map((m) => m[1]))];
    marks = [...marks.filter((m) => !touched.includes(m)), one];
    getSelection().removeAllRanges();
    held = null;
    anchor = head;
    changed();
    say(`marked: ${marks.length}`);
  }

  function remove(at) {
    marks.splice(at, 1);
    changed();
    say(`marked: ${marks.length}`);
  }

  // A finger selects by handles that the browser draws: they say nothing when it is done, so a button marks what was
  // selected last. A mouse says so by its button.
  function keep() {
    held = selected() ?? held;
  }

  function released(event) {
    if (!pressed) return;
    pressed = false;
    const at = event.target.closest?.("mark")?.dataset.at;
    setTimeout(() => {      // the browser has then made up its mind what is selected
      if (!answer.isConnected || !wanted()) return;
      if (selected()) mark();
      else if (at !== undefined && answer.contains(event.target)) remove(Number(at));
    });
  }

  answer.addEventListener("mousedown", (event) => { pressed = event.button === 0; held = null; });
  document.addEventListener("mouseup", released);
  document.addEventListener("selectionchange", keep);

  return {
    begin, draw, move, mark, remove, count: () => marks.length,
    texts: () => marks.map((m) => text.slice(...m)),
    end() {
      document.removeEventListener("mouseup", released);
      document.removeEventListener("selectionchange", keep);
    },
  };
}
