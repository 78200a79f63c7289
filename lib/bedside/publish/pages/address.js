// Shows, beside the table's cell at which one points, the link that is its address.
"use strict";
const link = Object.assign(document.createElement("a"), { className: "to", textContent: "¶", title: "Address of this number" });
addEventListener("pointerover", event => {
  const cell = event.target.closest("td[id]");
  if (!cell || link.parentNode === cell) return;
  link.href = "#" + encodeURIComponent(cell.id);
  cell.append(link);
});
