/* Labels are lines that are only added, kept by the browser and saved as a file; what comes back is checked again.
   Each line has a key of its own, so that no tab can write over what another has kept. */
const data = JSON.parse($("data").textContent), {about, items} = data;
const store = `bedside ${data.task} ${data.hand}`, lines = new Map(), given = new Map(), trained = new Set();
let full = false;                           // whether the browser keeps nothing

const name = item => `${item.id} ${item.again}`;
const subject = line => line.id ? name(line) : line.training ? `training ${line.training}` : "entrance";
const time = line => Date.parse(line?.at ?? "2000");
const byTime = () => [...lines.values()].sort((a, b) => time(a) - time(b));
const bare = ({inFile, ...line}) => line;
const lacking = () => new Set([...lines.values()].filter(line => !line.inFile).map(subject)).size;
const done = () => items.filter(item => given.has(name(item)));

// What any tab has kept, of this page and of the rater's earlier ones. The first pages wrote one list.
function read() {
  try {
    for (const hand of [data.hand, ...data.earlier]) {
      const list = `bedside ${data.task} ${hand}`, keys = Object.keys(localStorage);
      const own = keys.filter(key => key.startsWith(`${list} `)).map(key => `[${localStorage[key]}]`);
      for (const line of [localStorage[list] ?? "[]", ...own].flatMap(text => JSON.parse(text))) {
        const key = `${store} ${line.at} ${subject(line)}`, inFile = line.inFile || lines.get(key)?.inFile;
        lines.set(key, {...line, inFile});
      }
    }
  } catch { full = true; }
  for (const line of byTime())
    if (line.training) trained.add(line.training);
    else if (line.id && !(time(given.get(name(line))) > time(line))) given.set(name(line), line);
}

function write() {
  try {
    for (const [key, line] of lines) localStorage[key] = JSON.stringify(line);
    localStorage[store] = JSON.stringify(byTime().map(bare));
    full = false;
  } catch { full = true; }
  note();
}

function keep(line) {
  const last = time(byTime().at(-1));        // a clock that was set back makes no label older
  const added = {...line, at: new Date(Math.max(Date.now(), last + 1)).toISOString()};
  lines.set(`${store} ${added.at} ${subject(added)}`, added);
  read();
  write();
}

function note() {
  const more = lacking();
  $("told").className = full ? "fault" : "";
  $("told").textContent = (full ? "This browser keeps nothing: save the file before you close the page. " : "")
    + (more ? `Not in a file yet: ${more}` : lines.size ? "All labels are in the file." : "");
}

function saveFile() {
  read();
  const head = {bedside: "labels", task: data.task, rater: about.rater, hand: data.hand};
  const text = [head, ...byTime().map(bare)].map(line => JSON.stringify(line) + "\n").join("");
  offer(text, "application/jsonl", `${data.task}-${about.rater}.jsonl`);
  for (const line of lines.values()) line.inFile = true;
  write();
}
