// The snippets of a form: added, removed, sorted and numbered without asking the server.
import {toBase64} from "./cipher";
import {button, find} from "./dom";

export const maxSnippets = 100;

export interface Fields {
  name: HTMLInputElement;
  language: HTMLInputElement;
  code: HTMLTextAreaElement;
  original: HTMLInputElement; // the text of a file in base64, where a textarea would change its line ends
}

const all = () => Array.from(find("snippets").querySelectorAll<HTMLElement>(".snippet"));

export const snippets = all;

export function fieldsOf(snippet: HTMLElement): Fields {
  const field = (name: string) => snippet.querySelector("[name=" + name + "]");
  return {
    name: field("name") as HTMLInputElement,
    language: field("language") as HTMLInputElement,
    code: field("code") as HTMLTextAreaElement,
    original: field("original") as HTMLInputElement,
  };
}

const unix = (text: string) => text.replace(/\r\n?/g, "\n");

/** setCode puts a text into the textarea, and keeps line ends that this would change. */
export function setCode({code, original}: Fields, text: string): void {
  code.value = unix(text);
  const bytes = new TextEncoder().encode(text);
  original.value = unix(text) === text ? "" : toBase64(bytes).replace(/-/g, "+").replace(/_/g, "/");
  while (original.value.length % 4) original.value += "=";
}

/** codeOf returns the text of a snippet, with the line ends of the file that it came from if nothing was changed. */
export function codeOf({code, original}: Fields): string {
  if (!original.value) return code.value;
  const text = new TextDecoder().decode(Uint8Array.from(atob(original.value), c => c.charCodeAt(0)));
  return unix(text) === code.value ? text : code.value;
}

/** isEmpty reports whether nothing was filled in. */
export function isEmpty(snippet: HTMLElement): boolean {
  const {name, code} = fieldsOf(snippet);
  const id = snippet.querySelector<HTMLInputElement>("[name=snippet]");
  return !name.value && !code.value && !id?.value;
}

/** A form tells those who show or keep its snippets that one came, went or moved. */
export type Listener = (snippet: HTMLElement) => void;
const added: Listener[] = [];
const changed: (() => void)[] = [];
export const onAdd = (listener: Listener) => { added.push(listener); };
export const onChange = (listener: () => void) => { changed.push(listener); };

// number gives each snippet its place in labels, ids and the values of its buttons.
function number(): void {
  const list = all();
  list.forEach((snippet, i) => {
    const n = String(i + 1);
    snippet.querySelector("legend")!.textContent = "Snippet " + n;
    for (const element of snippet.querySelectorAll("[id]")) element.id = element.id.replace(/-\d+/, "-" + n);
    for (const label of snippet.querySelectorAll("label")) label.htmlFor = label.htmlFor.replace(/-\d+/, "-" + n);
    for (const element of snippet.querySelectorAll("[aria-describedby]")) {
      element.setAttribute("aria-describedby", element.getAttribute("aria-describedby")!.replace(/-\d+/g, "-" + n));
    }
    const remove = snippet.querySelector<HTMLButtonElement>("button[value^=remove]")!;
    remove.hidden = list.length === 1;
    remove.value = "remove-" + n;
    remove.setAttribute("aria-label", "Remove snippet " + n);
    for (const move of snippet.querySelectorAll<HTMLButtonElement>("button[data-move]")) {
      const up = move.dataset.move === "up";
      move.hidden = list.length === 1;
      move.disabled = up ? i === 0 : i === list.length - 1;
      move.setAttribute("aria-label", "Move snippet " + n + (up ? " up" : " down"));
    }
  });
  for (const listener of changed) listener();
}

/** add appends an empty snippet, or returns null where the form is full. */
export function add(): HTMLElement | null {
  if (all().length >= maxSnippets) return null;
  const snippet = find<HTMLTemplateElement>("snippet").content.cloneNode(true) as DocumentFragment;
  const element = snippet.querySelector<HTMLElement>(".snippet")!;
  find("snippets").append(snippet);
  number();
  for (const listener of added) listener(element);
  return element;
}

/** remove takes a snippet away, and offers to bring it back. */
export function remove(snippet: HTMLElement): void {
  const next = snippet.nextElementSibling;
  const label = fieldsOf(snippet).name.value || snippet.querySelector("legend")!.textContent;
  snippet.remove();
  number();
  const status = find("snippets-status");
  const undo = button("Undo", () => {
    find("snippets").insertBefore(snippet, next?.isConnected ? next : null);
    status.replaceChildren();
    number();
    fieldsOf(snippet).name.focus();
  });
  status.replaceChildren("Removed " + label + ". ", undo);
  undo.focus();
}

function move(snippet: HTMLElement, up: boolean): void {
  const other = up ? snippet.previousElementSibling : snippet.nextElementSibling;
  if (!other) return;
  if (up) other.before(snippet);
  else other.after(snippet);
  number();
  const pressed = snippet.querySelector<HTMLButtonElement>("button[data-move=" + (up ? "up" : "down") + "]")!;
  const again = pressed.disabled ? snippet.querySelector<HTMLButtonElement>("button[data-move]:enabled") : pressed;
  again?.focus();
}

/** begin makes the form's buttons for snippets work here. */
export function begin(): void {
  number();
  find("snippets").addEventListener("click", event => {
    const pressed = (event.target as Element).closest<HTMLButtonElement>("button[data-move]");
    if (pressed) move(pressed.closest<HTMLElement>(".snippet")!, pressed.dataset.move === "up");
  });
}
