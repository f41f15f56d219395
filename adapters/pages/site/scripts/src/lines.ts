// Code with numbered lines, as the server writes it (adapters/pages/pastes/code.go), so that script.js can select and copy
// it.

/** A number of characters and their class, or "". */
export type Span = [length: number, name: string];

const groupLines = 100; // a browser lays out a group only when it scrolls into view
const mostLines = 100_000;

/** linesOf returns the number of lines. A trailing newline does not begin another line. */
export const linesOf = (code: string) => code ? code.split("\n").length - (code.endsWith("\n") ? 1 : 0) : 0;

/**
 * show fills an element with code. The spans are the colours of the code's beginning. anchor precedes the L in each
 * line's id, and link precedes the id in its address.
 */
export function show(element: HTMLElement, code: string, spans: Span[], anchor: string, link: string): void {
  const lines = linesOf(code);
  if (lines > mostLines) {
    element.textContent = code;
    element.parentElement!.classList.add("packed");
    return;
  }
  const all = document.createDocumentFragment();
  let group = document.createElement("span");
  let number = 0;
  let open = false; // the current line
  const write = (text: string, name: string) => {
    if (!text) return;
    if (!name) return group.append(text);
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    group.append(span);
  };
  const put = (text: string, name: string) => {
    for (const line of text.match(/[^\n]*\n|[^\n]+/g) ?? []) {
      if (!open) {
        if (number % groupLines === 0) {
          group = document.createElement("span");
          group.className = lines - number >= groupLines ? "lines full" : "lines";
          all.append(group);
        }
        const a = document.createElement("a");
        a.textContent = String(++number);
        a.id = anchor + "L" + number;
        a.href = "#" + link + a.id;
        a.tabIndex = -1;
        group.append(a);
      }
      open = !line.endsWith("\n");
      write(open ? line : line.slice(0, -1), name);
      if (!open) group.append("\n");
    }
  };
  let at = 0;
  for (const [length, name] of spans) put(code.slice(at, at += length), name);
  put(code.slice(at), "");
  element.replaceChildren(all);
}
