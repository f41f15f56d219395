// Code with numbered lines, as the server writes it (adapters/pages/pastes/code.go): script.js selects and copies both.

/** How many characters have which class; "" is none. */
export type Span = [length: number, name: string];

const groupLines = 100; // a browser lays out a whole group only when it comes into view
const mostLines = 100_000;

/** linesOf returns how many lines a code has. A final line end begins no other line. */
export const linesOf = (code: string) => code ? code.split("\n").length - (code.endsWith("\n") ? 1 : 0) : 0;

/**
 * show fills an element with code. The spans are the colours of its beginning, anchor stands before the L of each
 * line's id, and link before that in its address.
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
