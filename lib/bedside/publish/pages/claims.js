// Filters of the ledger. The choices are kept in the address (#paper=x&verdict=y), so that a view can be linked.
"use strict";
const form = document.getElementById("filters");
const articles = [...document.querySelectorAll("article")];
const texts = articles.map(article => article.textContent.toLowerCase());

function show() {
  const chosen = Object.entries(Object.fromEntries(new FormData(form))).filter(([, value]) => value);
  let count = 0;
  articles.forEach((article, i) => {
    article.hidden = !chosen.every(([name, value]) =>
      name === "text" ? value.toLowerCase().split(/\s+/).every(word => texts[i].includes(word)) : article.dataset[name] === value);
    count += !article.hidden;
  });
  document.getElementById("count").textContent = `${count} of ${articles.length} claims`;
  return chosen;
}

function read() {
  const address = location.hash.slice(1), chosen = new URLSearchParams(address);   // a claim's own address chooses no filter
  for (const field of form.elements) if (field.name) field.value = chosen.get(field.name) || "";
  show();
  document.getElementById(decodeURIComponent(address))?.scrollIntoView();
}

form.addEventListener("input", () => history.replaceState(null, "", "#" + new URLSearchParams(show())));
form.addEventListener("reset", () => setTimeout(() => { history.replaceState(null, "", "#"); show(); }));
form.addEventListener("submit", event => event.preventDefault());
addEventListener("hashchange", read);
form.hidden = false;
read();
