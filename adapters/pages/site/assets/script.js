"use strict";

// Lines: a click on a number selects its line, one with the shift key all from the first chosen. The address says which,
// as #L3, #L3-L7 or, where there are several pasties, #2-L3-L7. The key of an encrypted paste stands before that: #KEY&L3.
let start = ""; // the address of the line that was chosen first
const address = /^#(?:[\w-]*&)?((?:\d+-)?)L(\d+)(?:-L(\d+))?$/;
const numberOf = (pasty, line) => document.getElementById(pasty + "L" + line);

function select(scroll) {
  const focused = document.activeElement; // what is moved loses the focus
  for (const lines of document.querySelectorAll(".selected")) lines.replaceWith(...lines.childNodes);
  const found = address.exec(location.hash);
  const ends = found ? [Number(found[2]), Number(found[3] || found[2])].sort((a, b) => a - b) : [];
  const first = found && numberOf(found[1], ends[0]);
  const after = found && numberOf(found[1], ends[1] + 1);
  for (let number = first; number && number !== after;) {
    const lines = document.createElement("span");
    lines.className = "selected";
    number.before(lines);
    while (lines.nextSibling && lines.nextSibling !== after) lines.append(lines.nextSibling);
    const group = lines.parentElement.nextElementSibling;
    number = lines.nextSibling || !group ? null : group.firstElementChild;
  }
  if (first) {
    const folded = first.closest("details");
    if (folded) folded.open = true;
    if (scroll) arriveAt(first, 3);
  }
  if (focused !== document.activeElement) focused.focus({preventScroll: true});
}

// arriveAt scrolls to a number, and again in the next frames: lines before it that wrap are laid out only then.
function arriveAt(number, times) {
  number.scrollIntoView({block: "start"});
  if (times > 1) requestAnimationFrame(() => arriveAt(number, times - 1));
}

function choose(number, extend) {
  const to = address.exec(number.hash);
  const from = address.exec(start);
  let hash = number.hash;
  if (!extend || !from || from[1] !== to[1]) {
    start = hash;
  } else if (from[2] !== to[2]) {
    const ends = [Number(from[2]), Number(to[2])].sort((a, b) => a - b);
    hash = hash.slice(0, hash.length - to[2].length) + ends[0] + "-L" + ends[1];
  }
  history.replaceState(null, "", hash);
  select(false);
}

document.addEventListener("click", event => {
  const number = event.target.closest(".lines a");
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
function oneStop(code) {
  const first = code.querySelector(".lines a");
  if (!first) return;
  first.tabIndex = 0;
  const again = code.stop; // its lines were written anew
  code.stop = first;
  if (again) return;
  code.addEventListener("focusin", event => {
    code.stop.tabIndex = -1;
    code.stop = event.target;
    code.stop.tabIndex = 0;
  });
  code.addEventListener("keydown", event => {
    const at = address.exec(event.target.hash);
    if (!at) return;
    const numbers = code.querySelectorAll(".lines a");
    const to = {
      ArrowUp: numberOf(at[1], Number(at[2]) - 1), ArrowDown: numberOf(at[1], Number(at[2]) + 1),
      Home: numbers[0], End: numbers[numbers.length - 1],
    }[event.key];
    if (!to || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    to.focus();
    if (event.shiftKey) choose(to, true);
  });
}
document.querySelectorAll(".code code").forEach(oneStop);

// Copying: the code as it is, without numbers. A mark stands for the character that it names, which HTML may not be able to contain.
function textOf(element) {
  const copy = element.cloneNode(true);
  for (const number of copy.querySelectorAll(".lines a")) number.remove();
  for (const mark of copy.querySelectorAll(".mark")) mark.textContent = String.fromCodePoint(parseInt(mark.dataset.mark, 16));
  return copy.textContent;
}

// A page has so many marks at most. Beyond them it does not contain all characters, and Copy asks for the code.
const maxMarks = 10000;
const marks = document.getElementsByClassName("mark");

// wholeText returns the text at an address or, on a page that is shown once, in the page.
async function wholeText(raw) {
  if (raw.dataset.text) return decode(Uint8Array.from(atob(raw.dataset.text), c => c.charCodeAt(0)));
  const answer = await fetch(raw.href);
  if (!answer.ok) throw new Error(answer.status);
  return decode(await answer.arrayBuffer());
}

const decode = bytes => new TextDecoder("utf-8", {ignoreBOM: true}).decode(bytes);

// copyText copies a text that may have to come first. Safari lets a page write only at once, so it is promised.
function copyText(text) {
  if (typeof text === "string") return navigator.clipboard.writeText(text);
  const type = "text/plain";
  return navigator.clipboard.write([new ClipboardItem({[type]: text.then(text => new Blob([text], {type}))})]);
}

function offerCopy(button) {
  const fence = button.closest(".fence");
  const code = fence ? fence.querySelector("code") : button.closest(".pasty").querySelector(".code code");
  const raw = fence ? null : button.parentElement.querySelector(".raw");
  if (!code || !navigator.clipboard) return;
  const cut = marks.length >= maxMarks && (raw || textOf(code).includes("\ufffd"));
  if (cut && !raw) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const label = button.dataset.label || (button.dataset.label = button.textContent);
    try {
      await copyText(cut ? wholeText(raw) : textOf(code));
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
