/* Labels are lines that are only added, kept by the browser and saved as a file; what comes back is checked again where
   it is taken in. Each line has a key of its own, so that no tab can write over what another has kept. */
const data = JSON.parse($("data").textContent), {about, items} = data;
const store = `bedside ${data.task} ${data.hand}`, kept = {lines: new Map(), given: new Map(), trained: new Set(), fault: false};

const name = item => `${item.id} ${item.again}`;
const subject = line => line.id ? name(line) : line.training ? `training ${line.training}` : "entrance";
const time = line => Date.parse(line?.at ?? "2000");
const byTime = () => [...kept.lines.values()].sort((a, b) => time(a) - time(b));
const bare = ({inFile, ...line}) => line;
const lacking = () => new Set([...kept.lines.values()].filter(line => !line.inFile).map(subject)).size;
const done = () => items.filter(item => kept.given.has(name(item)));

// What any tab has kept, of this page and of those that this rater had before. The first pages wrote one list.
function read() {
  try {
    for (const hand of [data.hand, ...data.earlier]) {
      const list = `bedside ${data.task} ${hand}`, keys = Object.keys(localStorage).filter(key => key.startsWith(`${list} `));
      const texts = [localStorage[list] ?? "[]", ...keys.map(key => `[${localStorage[key]}]`)];
      for (const line of texts.flatMap(text => JSON.parse(text))) {
        const key = `${store} ${line.at} ${subject(line)}`, inFile = line.inFile || kept.lines.get(key)?.inFile;
        kept.lines.set(key, {...line, inFile});
      }
    }
  } catch { kept.fault = true; }
  for (const line of byTime())
    if (line.training) kept.trained.add(line.training);
    else if (line.id && !(time(kept.given.get(name(line))) > time(line))) kept.given.set(name(line), line);
}

function write() {
  try {
    for (const [key, line] of kept.lines) localStorage[key] = JSON.stringify(line);
    localStorage[store] = JSON.stringify(byTime().map(bare));
    kept.fault = false;
  } catch { kept.fault = true; }
  note();
}

function keep(line) {
  const last = time(byTime().at(-1));        // a clock that was set back makes no label older
  const added = {...line, at: new Date(Math.max(Date.now(), last + 1)).toISOString()};
  kept.lines.set(`${store} ${added.at} ${subject(added)}`, added);
  read();
  write();
}

function note() {
  const more = lacking();
  $("told").className = kept.fault ? "fault" : "";
  $("told").textContent = (kept.fault ? "This browser keeps nothing: save the file before you close the page. " : "")
    + (more ? `Not in a file yet: ${more}` : kept.lines.size ? "All labels are in the file." : "");
}

function saveFile() {
  read();
  const head = {bedside: "labels", task: data.task, rater: about.rater, hand: data.hand};
  const text = [head, ...byTime().map(bare)].map(line => JSON.stringify(line) + "\n").join("");
  offer(text, "application/jsonl", `${data.task}-${about.rater}.jsonl`);
  for (const line of kept.lines.values()) line.inFile = true;
  write();
}
