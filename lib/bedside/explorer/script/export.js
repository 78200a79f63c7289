// Exports

function cell(value) {                      // as bedside.write.tables.cell_text: never a spreadsheet formula
  const safe = /^[=+\-@\t\r]/.test(value) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? "'" + value : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const bracketed = pieces => pieces.map(([words, marks]) => marks ? `${words} [${marks}]` : words).join("");
const asText = {                            // a block as text; lists without hyphens, which a formula could begin with
  text: b => b.text,
  list: b => b.entries.map(e => `• ${e}`).join("\n"),
  marked: b => bracketed(b.pieces),
  aligned: b => b.rows.map(r =>
    `${r.term}: ${r.cells.flatMap((c, i) => c ? [`${b.columns[i] ?? ""} ${c}`] : []).join(", ")}`).join("\n"),
  dialogue: b => b.turns.flatMap(t => [`${t.who}: ${bracketed(t.pieces)}`, ...t.notes.map(n => `    ${n}`)]).join("\n"),
};
const HEAD = ["id", "paper", "section", "item", "unit", "model", "by", "configuration", "category", "question", "reply",
  "reply_status", "truncated", "judge", "status", "value", "right", "reason", "raw", "human", "mark", "note"];
const SENT = ["calls", "messages", ...CALL.map(([column]) => column)];

function cells(row, v, parcel) {            // column -> text; texts with the same column name share it
  const found = new Map(), taken = new Set([...HEAD, ...SENT]);
  const put = (column, value) => {
    const text = String(value ?? ""), name = taken.has(column) ? `${column} (block)` : column;
    found.set(name, found.has(name) ? `${found.get(name)}\n\n${text}` : text);
  };
  for (const b of [...row.shared.flatMap(k => shared.get(k) ?? []), ...row.blocks])
    put(b.label, Object.hasOwn(asText, b.kind) ? asText[b.kind](b) : JSON.stringify(b));
  const each = (prefix, one, names) => names.forEach(name => put(`${prefix}: ${name}`, one[name]));
  for (const one of row.verdicts) each(`judge ${one.judge}`, one, ["status", "value", "right", "reason", "raw"]);
  for (const one of row.more) each(`question ${one.task}, ${one.judge}`, one, ["status", "value", "raw"]);
  for (const one of row.human) each(`label ${one.by}`, one, ["value", "type", "reason"]);
  const fixed = {...v, ...row, question: row.title, human: row.human.map(h => `${h.by}: ${h.value}`).join("; ")};
  for (const name of HEAD) found.set(name, String(fixed[name] ?? ""));
  if (row.calls.length) for (const [name, value] of Object.entries(toldCalls(row, parcel))) found.set(name, value);
  return found;
}

/* All rows shown, whole. First what every row has, then what was sent, then a column for each block, judge, question and
   person of the rows, in the order in which the file has them: whatever is shown, the same names in the same order. */
function csv(parcel) {
  const shown = order().flatMap(([, l]) => l.sides);
  const made = shown.map(([row, v]) => cells(row, v, parcel)), of = new Map(shown.map(([row], i) => [row, made[i]]));
  const names = new Set([...HEAD, ...SENT, ...rows.flatMap(row => [...of.get(row)?.keys() ?? []])]);
  const body = made.map(one => [...names].map(name => one.get(name) ?? ""));
  return "\ufeff" + [[...names], ...body].map(r => r.map(cell).join(",") + "\r\n").join("");
}

async function download() {
  const parcel = await sent().catch(error => say(`${unreadable(error)} The export leaves it out.`));
  offer(csv(parcel), "text/csv", `bedside_${data.profile}.csv`);
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
    say("The link is selected in the field. Copy it from there.");
  }
}

function say(words) {
  $("message").textContent = words;
}
