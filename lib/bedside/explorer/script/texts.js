// Making elements and texts, as a rater's page does too: every text becomes text nodes, never markup.
const CUT = 20000;                  // longer texts are shown in part until asked for
const BRACKETS = {labelled: ["⌜", "⌝"], detected: ["⟨", "⟩"], script: ["script", ""]};
// Controls, marks of writing direction and invisible tag characters: what could change how other text looks.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;
const NAMES = {0x061c: "ALM", 0x200e: "LRM", 0x200f: "RLM", 0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO",
  0x202e: "RLO", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI"};

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

function words(pieces, most = CUT) {                   // [[text, marks], ...]: brackets stand where a mark begins and ends
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
  show(most);
  return box;
}
const text = (string, most) => words([[string, ""]], most);

function offer(text, type, download) {      // as a file
  const href = URL.createObjectURL(new Blob([text], {type}));
  make("a", {href, download}).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
