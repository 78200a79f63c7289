// The annotation widget: shows one item, takes its label by keyboard or mouse, and says "saved" when Python has it on disk.
//
// What is shown comes from models and data and is hostile: it enters the page as text nodes, never as markup.

const PATIENCE_MS = 8000;    // how long Python may take to answer
const TOO_SOON_MS = 250;     // nobody has read an item by then: a key pressed twice must not label the next one

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);       // strings become text nodes
  return made;
}

const prose = (text) => element("p", { class: "prose", dir: "auto" }, text);

const CONTENT = {
  text: (block) => [prose(block.text)],
  list: (block) => [element("ul", {}, ...block.entries.map((entry) => element("li", { class: "prose", dir: "auto" }, entry)))],
  dialogue: (block) => block.turns.map((turn) =>
    element("div", { class: "turn" }, element("b", { class: "prose", dir: "auto" }, turn.who), prose(turn.text))),
};

const section = (label, ...nodes) => element("section", {}, element("h4", { class: "prose", dir: "auto" }, label), ...nodes);

function render({ model, el }) {
  const about = model.get("about");
  const instant = !about.several && !about.spans_for;      // the number key alone saves
  let item, chosen, type, marks, words, anchor, head, soon;
  let waiting = 0, spent = 0, since = null;

  // ---- the page

  const progress = element("span", { class: "count" });
  const bar = element("progress", { "aria-hidden": "true" });
  const material = element("div", { class: "material", tabindex: "0", role: "region", "aria-label": "item" });
  const answer = element("p", { class: "prose answer", dir: "auto" });
  const marked = element("ol", { class: "marked", "aria-label": "marked spans" });
  const reason = element("textarea", { rows: "1", dir: "auto", "aria-label": "reason",
    placeholder: "reason (optional; r, Escape)" });
  const hint = element("span", { class: "hint" });
  const status = element("p", { class: "status", role: "status", "aria-live": "polite" });
  const button = (key, text, act, name = "") => {
    const made = element("button", { type: "button", class: name }, element("kbd", {}, key), " ", text);
    made.addEventListener("click", () => { act(); if (document.activeElement === made) root.focus({ preventScroll: true }); });
    return made;
  };
  const choices = about.choices.map(([key, value, text]) => [value, button(key, text, () => choose(value))]);
  const types = about.types.map(([key, value, text]) => [value, button(key, text, () => pick(value))]);
  const typed = element("div", { class: "choices types", role: "group", "aria-label": "type" }, ...types.map((t) => t[1]));
  const keys = [
    ...about.choices.map(([key, value, text]) => [[key], text, () => choose(value)]),
    ...about.types.map(([key, value, text]) => [[key], `type ${text}`, () => pick(value)]),
    ...(about.spans_for ? [
      [["ArrowRight", "ArrowLeft"], "→ ← move a word in the answer, with Shift select more", move],
      [["Home", "End"], "first or last word", move],
      [["s"], "mark what is selected", mark],
      [["x"], "take the last mark away", () => { marks.pop(); draw(); }],
    ] : []),
    [["Enter"], "save and go on", save],
    [["b", "Backspace"], "back to the item before, to correct it", () => ask({ do: "back" })],
    [["n"], "not now: leave it for the end", () => ask({ do: "skip" })],
    [["r"], "write a reason; Escape leaves the field", () => reason.focus()],
    [["ArrowDown", "ArrowUp", "PageDown", "PageUp"], "scroll", scroll],
    [["?"], "show or hide these keys", () => { help.hidden = !help.hidden; help.scrollIntoView({ block: "nearest" }); }],
  ];
  const names = { ArrowRight: "→", ArrowLeft: "←", ArrowDown: "↓", ArrowUp: "↑" };
  const help = element("dl", { class: "help" }, ...keys.flatMap(([pressed, text]) => [
    element("dt", {}, ...pressed.map((key) => element("kbd", {}, names[key] ?? key))), element("dd", {}, text)]));
  help.hidden = true;
  const form = element("div", { class: "form" },
    element("p", { class: "question" }, about.question),
    element("div", { class: "choices", role: "group", "aria-label": about.question }, ...choices.map((c) => c[1])),
    typed, marked, reason);
  const root = element("div", { class: "bedside-annotation", tabindex: "0", role: "group", "aria-label": about.title,
    "data-lm-suppress-shortcuts": "true" },
    element("header", {}, element("strong", {}, about.title), element("span", {}, about.rater), progress, bar),
    element("p", { class: "guide" }, about.guide), material, form,
    element("footer", {}, ...(instant ? [] : [button("Enter", "save", save, "save")]),
      button("b", "back", () => ask({ do: "back" })), button("n", "not now", () => ask({ do: "skip" })),
      button("?", "keys", () => { help.hidden = !help.hidden; }), hint),
    status, help);

  // ---- an item

  function show() {
    item = model.get("shown");
    const { labelled, of, earlier } = item;
    const finished = item.place === null;
    chosen = new Set(earlier?.values);
    type = earlier?.type ?? "";
    reason.value = earlier?.reason ?? "";
    marks = (earlier?.spans ?? []).map((s) => [item.answer.text.indexOf(s), s.length]).filter(([from]) => from >= 0)
      .map(([from, length]) => [from, from + length]);
    words = null;
    anchor = head = -1;
    progress.textContent = `${labelled} of ${of}`;
    bar.max = of;
    bar.value = labelled;
    form.hidden = finished;
    material.replaceChildren(...(finished
      ? [prose(`All ${of} are labelled. Thank you. The labels are in ${item.where}`)]
      : [element("div", {}, ...item.before.map(blockOf)),
         element("div", {}, section(item.answer.label, answer), ...item.after.map(blockOf))]));
    material.scrollTop = 0;
    if (root.contains(document.activeElement)) root.focus({ preventScroll: true });
    spent = 0;
    since = document.hidden ? null : performance.now();
    clearTimeout(soon);
    soon = setTimeout(() => { soon = 0; busy(); }, TOO_SOON_MS);
    draw();
  }

  const blockOf = (block) => section(block.label, ...CONTENT[block.kind](block));

  function draw() {
    busy();
    if (item.place === null) { hint.textContent = ""; return; }
    const open = about.spans_for && chosen.has(about.spans_for);
    for (const [value, b] of choices) b.setAttribute("aria-pressed", chosen.has(value));
    for (const [value, b] of types) b.setAttribute("aria-pressed", type === value);
    typed.hidden = marked.hidden = !open;
    drawAnswer();
    marked.replaceChildren(...marks.map((m, i) => {
      const remove = element("button", { type: "button", "aria-label": `remove span ${i + 1}` }, "×");
      remove.addEventListener("click", () => { marks.splice(i, 1); root.focus({ preventScroll: true }); draw(); });
      return element("li", {}, element("span", { class: "prose", dir: "auto" }, item.answer.text.slice(...m)), remove);
    }));
    const numbers = `${about.choices[0][0]} to ${about.choices.at(-1)[0]}`;
    hint.textContent = instant ? `${numbers}: the number alone saves and goes on`
      : about.several ? `${numbers} switch on and off, none may hold; Enter saves`
      : !chosen.size ? `choose ${numbers}`
      : !open ? "Enter saves and goes on; r for a reason"
      : !type ? `type: ${about.types.map((t) => t[0]).join(", ")}`
      : !marks.length ? "mark the place: → ← and Shift, or the mouse, then s"
      : "Enter saves and goes on; s marks more";
  }

  function drawAnswer() {
    const text = item.answer.text, at = cursor();
    const cuts = [...new Set([0, text.length, ...marks.flat(), ...(at ?? [])])].sort((a, b) => a - b);
    const within = (range, from, to) => range && range[0] <= from && to <= range[1];
    answer.replaceChildren(...cuts.slice(1).map((to, i) => {
      const from = cuts[i], piece = text.slice(from, to), here = within(at, from, to);
      const name = here ? "cursor" : "";
      if (marks.some((m) => within(m, from, to))) return element("mark", { class: name }, piece);
      return here ? element("span", { class: name }, piece) : piece;
    }));
  }

  const busy = () => root.setAttribute("aria-busy", Boolean(waiting || soon));

  function say(text, fault) {
    status.textContent = text;
    status.classList.toggle("fault", Boolean(fault));
  }

  // ---- choosing

  function choose(value) {
    if (waiting || soon) return;
    if (about.several && chosen.delete(value)) return draw();
    chosen = new Set(about.several ? [...chosen, value] : [value]);
    draw();
    if (instant) save();
  }

  function pick(value) {
    if (!about.spans_for || !chosen.has(about.spans_for)) return say(`first choose ${about.spans_for}`, true);
    type = value;
    draw();
  }

  // ---- spans: [from, to] in the answer's text

  function cursor() {
    return head < 0 ? null : [words[Math.min(anchor, head)][0], words[Math.max(anchor, head)][1]];
  }

  function move(event) {
    words ??= [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(item.answer.text)]
      .filter((s) => s.isWordLike).map((s) => [s.index, s.index + s.segment.length]);
    if (!words.length) return;
    getSelection().removeAllRanges();
    const forward = (event.key === "ArrowRight") !== (getComputedStyle(answer).direction === "rtl");
    const to = { Home: 0, End: words.length - 1 }[event.key] ?? (head < 0 ? 0 : head + (forward ? 1 : -1));
    head = Math.max(0, Math.min(words.length - 1, to));
    if (!event.shiftKey || anchor < 0) anchor = head;
    drawAnswer();
    answer.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
  }

  function selected() {
    const range = getSelection().rangeCount ? getSelection().getRangeAt(0) : null;
    if (!range || range.collapsed || !range.intersectsNode(answer)) return cursor();
    const offset = (node, at, outside) => {
      if (!answer.contains(node)) return outside;
      const before = document.createRange();
      before.setStart(answer, 0);
      before.setEnd(node, at);
      return before.toString().length;
    };
    return [offset(range.startContainer, range.startOffset, 0),
      offset(range.endContainer, range.endOffset, item.answer.text.length)];
  }

  function mark() {
    if (!about.spans_for || !chosen.has(about.spans_for)) return say(`first choose ${about.spans_for}: only then places are marked`, true);
    let [from, to] = selected() ?? [0, 0];
    const text = item.answer.text.slice(from, to);
    from += text.length - text.trimStart().length;
    to -= text.length - text.trimEnd().length;
    if (from >= to) return say("nothing is selected: → ← and Shift, or the mouse, in the answer", true);
    const touched = marks.filter((m) => m[0] < to && from < m[1]);      // marks that overlap become one
    const one = [Math.min(from, ...touched.map((m) => m[0])), Math.max(to, ...touched.map((m) => m[1]))];
    marks = [...marks.filter((m) => !touched.includes(m)), one];
    getSelection().removeAllRanges();
    anchor = head;
    draw();
    say(`marked: ${marks.length}`);
  }

  function scroll(event) {
    const page = event.key.startsWith("Page") ? material.clientHeight - 40 : 60;
    material.scrollBy({ top: event.key.endsWith("Down") ? page : -page });
  }

  // ---- Python

  function clock() {      // counts only while the page can be seen
    if (since !== null) spent += performance.now() - since;
    since = document.hidden ? null : performance.now();
  }

  function save() {
    clock();
    const open = about.spans_for && chosen.has(about.spans_for);
    const spans = open ? marks.map((m) => item.answer.text.slice(...m)) : [];
    ask({ do: "label", values: [...chosen], type: open ? type : "", spans, reason: reason.value, seconds: spent / 1000 });
  }

  function ask(message) {
    if (waiting || soon) return;
    waiting = setTimeout(() => {
      waiting = 0;
      busy();
      say("NOT saved: Python does not answer. If the kernel has stopped, run the notebook's cells again: "
        + "what was said to be saved is on disk.", true);
    }, PATIENCE_MS);
    busy();
    say(message.do === "label" ? "saving…" : "");
    model.send({ ...message, place: item.place });
  }

  function told() {
    const { place, saved, fault } = model.get("shown");
    clearTimeout(waiting);
    waiting = 0;
    if (fault && place === item.place) draw(); else show();      // what the rater has entered stays
    say(fault ? `NOT saved: ${fault}` : saved, fault);
  }

  // ---- keys

  root.addEventListener("keydown", (event) => {
    event.stopPropagation();        // JupyterLab has keys of its own
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === reason) {
      if (event.key === "Escape") root.focus({ preventScroll: true });
      return;
    }
    if (event.target.tagName === "BUTTON" && [" ", "Enter"].includes(event.key)) return;
    const found = keys.find(([pressed]) => pressed.includes(event.key));
    if (!found) return;
    event.preventDefault();
    if (event.repeat && !/^(Arrow|Page)/.test(event.key)) return;
    if (item.place !== null || ["b", "Backspace", "?"].includes(event.key)) found[2](event);
  });

  document.addEventListener("visibilitychange", clock);
  model.on("change:shown", told);
  el.append(root);
  show();
  requestAnimationFrame(() => {
    root.scrollIntoView({ block: "nearest" });
    root.focus({ preventScroll: true });
  });
  return () => {
    document.removeEventListener("visibilitychange", clock);
    model.off("change:shown", told);
    clearTimeout(waiting);
    clearTimeout(soon);
  };
}

export default { render };
