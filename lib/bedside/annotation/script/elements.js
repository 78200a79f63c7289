// A rater's page: shows one item after the other and takes its label by keyboard or mouse.
//
// What is shown comes from models, data and files of labels and is hostile: it enters the page as text nodes, never
// as markup.

const TOO_SOON_MS = 250;     // nobody has read an item by then: a key pressed twice must not label the next one
const CUT = "The reply was cut off at its length limit. Judge what is there.";

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);       // strings become text nodes
  return made;
}

const prose = (text) => element("p", { class: "prose", dir: "auto" }, text);
const entries = (texts) => element("ul", {}, ...texts.map((text) => element("li", { class: "prose", dir: "auto" }, text)));

const CONTENT = {
  text: (block) => [prose(block.text)],
  list: (block) => [entries(block.entries)],
  dialogue: (block) => block.turns.map((turn) =>
    element("div", { class: "turn" }, element("b", { class: "prose", dir: "auto" }, turn.who), prose(turn.text))),
};

const section = (label, ...nodes) => element("section", {}, element("p", { class: "heading prose", dir: "auto" }, label), ...nodes);
const blockOf = (block) => section(block.label, ...CONTENT[block.kind](block));

// ---- what stands beside an item

const REFUSALS = [
  ["u", "undecided", "can't decide"],
  ["w", "faulty", "the item is faulty"],
];

function opinionOf(opinion, at) {
  const refused = REFUSALS.find((r) => r[1] === opinion.refused);
  return section(at ? "Another rater" : "One rater",
    element("p", { class: "said prose", dir: "auto" }, refused ? refused[2] : opinion.said.join("; ") || "none of them"),
    ...(opinion.spans.length ? [entries(opinion.spans)] : []),
    ...(opinion.reason ? [prose(opinion.reason)] : []),
    ...(opinion.source ? [prose(`Source: ${opinion.source}`)] : []));
}

function feedbackOf(feedback) {
  return element("section", { class: feedback.right ? "feedback" : "feedback wrong" },
    element("p", { class: "heading" }, feedback.right ? "Right" : "Not the expected answer, which is"),
    entries(feedback.expected), prose(feedback.why));
}

function closingOf(item, about) {
  const refused = item.refused ? `, ${item.refused} refused` : "";
  return [prose(`All ${item.of} are done: ${item.handled - item.refused} labelled${refused}. Thank you.`),
    prose(`The labels are in ${item.where}`), ...(about.closing ? [prose(about.closing)] : [])];
}

// Where a mark with this text is, [from, to]: "air" isn't in "Hair" if it is a word anywhere.
function placeOf(text, span) {
  const part = "[\\p{L}\\p{M}\\p{N}_]", quoted = span.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const whole = text.search(new RegExp(`(?<!${part})${quoted}(?!${part})`, "u"));
  const from = whole < 0 ? text.indexOf(span) : whole;
  return [from, from + span.length];
}
