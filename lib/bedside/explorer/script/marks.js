// The reader's marks and notes, kept in a file of their own

const MARKS = {"look again": "↻", example: "★", "judge wrong": "⚖"}, NOTED = "note alone";
const MOST = 20e6, ENOUGH = 10;             // bytes of a file that is read; rows that a message names
const strangers = new Map();                // marks of rows that aren't here, by id: saved again with the others
let unsaved = false;

const everywhere = new Set(rows.map(r => r.paper));
offered.mark = new Map([...Object.keys(MARKS), NOTED, ""].map(m => [m, {papers: everywhere}]));
for (const row of rows) Object.assign(row, {mark: "", note: "", marked: ""});      // marked: the digest of what was marked

const markOf = row => Object.hasOwn(MARKS, row.mark) ? row.mark : "";
const sign = row => row?.mark ? [markOf(row) && `${MARKS[row.mark]} ${row.mark}`, row.note && "✎ note"].filter(Boolean).join(" ") : "";
const signs = sides => !sides.some(([row]) => row.mark) ? ""
  : [...new Set(sides.map(([row]) => row))].map(sign).filter(Boolean).join(" | ");

function digest(row) {                      // of the reply and the dialogue, by which a changed one is noticed (FNV-1a)
  const said = JSON.stringify([row.reply, row.reply_status, ...row.blocks.filter(b => b.kind === "dialogue").map(b => flat([b]))]);
  let hash = 0x811c9dc5;
  for (let i = 0; i < said.length; i++) hash = Math.imul(hash ^ said.charCodeAt(i), 0x01000193);
  return `${said.length}-${(hash >>> 0).toString(16)}`;
}

function give(row, mark, note, marked) {
  Object.assign(row, {note, mark: mark || (note && NOTED), marked: mark || note ? marked : ""});
  own.delete(row);                          // what is searched holds the note
  searched = {};
}

function tell() {                           // shows marks anew; `apply` counts them and fills the table
  const n = rows.filter(r => r.mark).length + strangers.size;
  $("save").hidden = !n && !unsaved;
  $("save").textContent = `Save marks (${number(n)}${unsaved ? ", unsaved" : ""})`;
  $("reply").querySelectorAll(".marks").forEach(box => box.tell());
}

function marking(row, mark, note) {         // by who reads
  give(row, mark, note, digest(row));
  unsaved = true;
  tell();
}

function resign() {                         // the column of the table
  for (const l of made.lines) l.mark = signs(l.sides);
}

function refresh(row) {                     // counts, and the row's line in the table
  resign();
  apply();
  for (const [shown, l] of order()) if (l.sides.some(([r]) => r === row)) shown.reformat();
  mark(place());
}

function toggle(row, mark) {
  marking(row, markOf(row) === mark ? "" : mark, row.note);
  refresh(row);
}

function marks(row) {                       // a row's buttons and note
  const buttons = Object.keys(MARKS).map(m => button(() => toggle(row, m), `${MARKS[m]} ${m}`));
  const note = make("textarea", {rows: 1, value: row.note, dir: "auto", oninput: () => marking(row, markOf(row), note.value),
    onchange: () => refresh(row)});
  note.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    $("detail").focus();
    event.stopPropagation();                // or it would close the row
  });
  const changed = soft("This reply has changed since it was marked."), printed = make("div", {className: "noted"});
  const box = make("div", {className: "marks", role: "group", "aria-label": "mark"}, ...buttons,
    make("label", {}, "note ", note), changed, printed);
  box.tell = () => {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(Object.keys(MARKS)[i] === row.mark)));
    if (note.value !== row.note) note.value = row.note;
    changed.hidden = !row.mark || row.marked === digest(row);
    printed.replaceChildren(...row.mark ? [soft("mark: ", sign(row)), text(row.note)] : []);
  };
  box.tell();
  return box;
}

function saveMarks() {
  const mine = rows.filter(r => r.mark).map(r => ({id: r.id, mark: markOf(r), note: r.note, reply: r.marked}));
  const file = {bedside: "marks", profile: data.profile, saved: new Date().toISOString(), marks: [...mine, ...strangers.values()]};
  offer(JSON.stringify(file, null, 1) + "\n", "application/json", `bedside_${data.profile}_marks.json`);
  unsaved = false;
  tell();
}

function marksIn(string) {                  // the contents of a file of marks; throws its fault
  let file;
  try {
    file = JSON.parse(string);
  } catch {
    throw new Error("it isn't JSON");
  }
  if (file?.bedside !== "marks" || !Array.isArray(file.marks)) throw new Error("it wasn't saved by this page");
  file.marks.forEach((m, i) => {
    const texts = m && ["id", "mark", "note", "reply"].every(k => Object.hasOwn(m, k) && typeof m[k] === "string");
    if (!texts || (m.mark && !Object.hasOwn(MARKS, m.mark))) throw new Error(`its mark ${number(i + 1)} can't be read`);
  });
  return file;
}

function merged(here, there) {              // mark and note of both; a second mark goes into the note
  const lost = here.mark && there.mark && here.mark !== there.mark ? [`also marked: ${there.mark}`] : [];
  const note = [there.note, ...lost].reduce((all, more) => all.includes(more) ? all : all ? `${all}\n${more}` : more, here.note);
  return {mark: here.mark || there.mark, note};
}

function take(file) {                       // merges marks with those here; returns a message
  const strange = [], changed = [], joined = [];
  for (const {id, mark, note, reply} of file.marks) {
    const row = byId.get(id), here = row ? {mark: markOf(row), note: row.note} : strangers.get(id) ?? {mark: "", note: ""};
    const both = merged(here, {mark, note});
    if ((here.mark || here.note) && (both.mark !== here.mark || both.note !== here.note)) joined.push(id);
    if (!row) {
      strange.push(id);
      strangers.set(id, {id, ...both, reply});
      continue;
    }
    if (reply !== digest(row)) changed.push(id);
    give(row, both.mark, both.note, row.marked || reply);
  }
  unsaved ||= joined.length > 0;
  const named = ids => ids.slice(0, ENOUGH).map(id => `“${plain(id, 120)}”`).join(", ") + (ids.length > ENOUGH
    ? ` and ${number(ids.length - ENOUGH)} more` : "");
  return [`Marks loaded: ${number(file.marks.length - strange.length)} of ${number(file.marks.length)}.`,
    file.profile !== data.profile && `They were saved from the profile “${plain(String(file.profile), 80)}”.`,
    strange.length && `These rows aren't in this file; their marks are kept and saved with the others: ${named(strange)}.`,
    changed.length && `These replies have changed since they were marked: ${named(changed)}.`,
    joined.length && `These rows were marked here as well, so both marks are kept (the second one in the note): ${named(joined)}.`]
    .filter(Boolean).join(" ");
}

async function loadMarks() {
  const [file] = $("marksfile").files;
  if (!file) return;
  try {
    if (file.size > MOST) throw new Error(`it has ${number(Math.round(file.size / 1e6))} MB`);
    const said = take(marksIn(await file.text()));
    tell();
    resign();
    apply();
    draw();
    detail();
    say(said);
  } catch (error) {
    say(`This isn't a file of marks (${error.message}). Nothing was loaded.`);
  }
  $("marksfile").value = "";                // so that the same file can be chosen again
}

window.addEventListener("beforeunload", event => unsaved && event.preventDefault());
