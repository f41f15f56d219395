"use strict";

// Lines: a click on a number selects its line, one with the shift key all from the first chosen. The address says which,
// as #L3, #L3-L7 or, where there are several pasties, #2-L3-L7.
let selected = [];
let start = ""; // the address of the line that was chosen first
const address = /^#((?:\d+-)?)L(\d+)(?:-L(\d+))?$/;

function select(scroll) {
  for (const line of selected) line.classList.remove("selected");
  selected = [];
  const found = address.exec(location.hash);
  if (!found) return;
  const ends = [Number(found[2]), Number(found[3] || found[2])].sort((a, b) => a - b);
  let line = document.getElementById(found[1] + "L" + ends[0]);
  const folded = line && line.closest("details");
  if (folded) folded.open = true;
  if (line && scroll && found[3]) line.scrollIntoView({block: "start"});
  for (let n = ends[0]; line && n <= ends[1]; n++, line = line.nextElementSibling) {
    line.classList.add("selected");
    selected.push(line);
  }
}

function choose(number, extend) {
  const to = address.exec(number.hash);
  const from = address.exec(start);
  let hash = number.hash;
  if (!extend || !from || from[1] !== to[1]) {
    start = hash;
  } else if (from[2] !== to[2]) {
    const ends = [Number(from[2]), Number(to[2])].sort((a, b) => a - b);
    hash = "#" + to[1] + "L" + ends[0] + "-L" + ends[1];
  }
  history.replaceState(null, "", hash);
  select(false);
}

document.addEventListener("click", event => {
  const number = event.target.closest(".line > a");
  if (!number || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  choose(number, event.shiftKey);
});

function arrive() {
  start = location.hash;
  select(true);
}

addEventListener("hashchange", arrive);
arrive();

// The numbers of a pasty are one stop of the tab key, and arrows go from one to the next: thousands of stops would be in the way.
for (const code of document.querySelectorAll(".code code")) {
  let stop = code.querySelector(".line > a");
  if (!stop) continue;
  stop.tabIndex = 0;
  code.addEventListener("focusin", event => {
    stop.tabIndex = -1;
    stop = event.target;
    stop.tabIndex = 0;
  });
  code.addEventListener("keydown", event => {
    const line = event.target.parentElement;
    const to = {
      ArrowUp: line.previousElementSibling, ArrowDown: line.nextElementSibling,
      Home: code.firstElementChild, End: code.lastElementChild,
    }[event.key];
    if (!to || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    to.firstElementChild.focus();
    if (event.shiftKey) choose(to.firstElementChild, true);
  });
}

// Copying: the code as it is, without numbers. A mark stands for the character that it names, which HTML may not be able to contain.
function textOf(element) {
  const copy = element.cloneNode(true);
  for (const number of copy.querySelectorAll(".line > a:first-child")) number.remove();
  for (const mark of copy.querySelectorAll(".mark")) mark.textContent = String.fromCodePoint(parseInt(mark.dataset.mark, 16));
  return copy.textContent;
}

// A page has so many marks at most. Beyond them it does not contain all characters, and its code is not offered for copying.
const maxMarks = 10000;
const incomplete = document.getElementsByClassName("mark").length >= maxMarks;

function offerCopy(button) {
  const fence = button.closest(".fence");
  const code = fence ? fence.querySelector("code") : button.closest(".pasty").querySelector(".code code");
  if (!code || !navigator.clipboard || incomplete) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const label = button.dataset.label || (button.dataset.label = button.textContent);
    try {
      await navigator.clipboard.writeText(textOf(code));
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
document.querySelectorAll("button.copy").forEach(offerCopy);

// A form is sent once, also if its button is pressed twice. Who stops that can send it again a while later.
const enable = () => { for (const button of document.querySelectorAll("button:disabled")) button.disabled = false; };
document.addEventListener("submit", event => {
  if (event.defaultPrevented) return;
  const disable = () => { for (const button of event.target.querySelectorAll("button")) button.disabled = true; };
  setTimeout(disable); // what is disabled at once is not sent
  setTimeout(enable, 10000);
});
addEventListener("pageshow", enable); // after going back, and in Firefox, which keeps them disabled over a reload

// A draft is forgotten where its form has led to another page.
try {
  if (!document.getElementById("paste-form")) localStorage.removeItem(sessionStorage.getItem("saved draft"));
} catch { /* this browser stores nothing */ }
