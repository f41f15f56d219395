"use strict";

// Lines: a click on a number selects its line, one with the shift key all lines up to it. The address says which, as #L3,
// #L3-L7 or, where there are several pasties, #2-L3-L7.
let selected = [];
const address = /^#((?:\d+-)?)L(\d+)(?:-L(\d+))?$/;

function select(scroll) {
  for (const line of selected) line.classList.remove("selected");
  selected = [];
  const found = address.exec(location.hash);
  if (!found) return;
  const ends = [Number(found[2]), Number(found[3] || found[2])].sort((a, b) => a - b);
  let line = document.getElementById(found[1] + "L" + ends[0]);
  if (line && scroll && found[3]) line.scrollIntoView({block: "start"});
  for (let n = ends[0]; line && n <= ends[1]; n++, line = line.nextElementSibling) {
    line.classList.add("selected");
    selected.push(line);
  }
}

document.addEventListener("click", event => {
  const number = event.target.closest(".line > a");
  if (!number || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const to = address.exec(number.hash);
  const from = address.exec(location.hash);
  let hash = number.hash;
  if (event.shiftKey && from && from[1] === to[1] && from[2] !== to[2]) {
    const ends = [Number(from[2]), Number(to[2])].sort((a, b) => a - b);
    hash = "#" + to[1] + "L" + ends[0] + "-L" + ends[1];
  }
  history.replaceState(null, "", hash);
  select(false);
});

addEventListener("hashchange", () => select(true));
select(true);

// Copying: the code as it is, without numbers.
for (const button of document.querySelectorAll("button.copy")) {
  const code = button.closest(".pasty").querySelector(".code code");
  if (!code || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const lines = code.querySelectorAll(".line");
    let text = code.textContent;
    if (lines.length) text = Array.from(lines, l => l.textContent.slice(l.firstChild.textContent.length)).join("");
    const label = button.dataset.label || (button.dataset.label = button.textContent);
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
