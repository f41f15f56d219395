// Fields with a link, a key or a token to select, copy or share.
import {answer} from "./dom";

const fieldOf = (id: string) => document.getElementById(id) as HTMLInputElement;

async function copy(button: HTMLButtonElement): Promise<void> {
  const field = fieldOf(button.dataset.copy!);
  try {
    await navigator.clipboard.writeText(field.value);
    answer(button, "Copied");
  } catch { // without TLS there is no clipboard, and some browsers ask
    field.focus();
    field.select();
    answer(button, document.execCommand("copy") ? "Copied" : "Press Ctrl+C");
  }
}

async function share(button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.share({title: button.dataset.title, url: fieldOf(button.dataset.share!).value});
  } catch { /* its reader has changed their mind */ }
}

/** withKey appends the key to the link of an encrypted paste, because the server does not have the key. */
function withKey(field: HTMLInputElement): void {
  const link = field.value;
  const add = () => {
    if (location.hash === "#main") return; // not a key
    field.value = link + location.hash.replace(/&.*/, "").replace(/^#$/, ""); // without the lines that it names
    field.closest<HTMLElement>(".handed")!.hidden = !location.hash;
  };
  addEventListener("hashchange", add);
  add();
}

export function begin(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => void copy(button));
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-share]")) {
    button.hidden = !navigator.share;
    button.addEventListener("click", () => void share(button));
  }
  for (const field of document.querySelectorAll<HTMLInputElement>("input[data-fragment]")) withKey(field);
  for (const field of document.querySelectorAll<HTMLInputElement>(".handed input")) {
    field.addEventListener("focus", () => field.select());
    if (field.autofocus) field.focus();
    if (document.activeElement === field) field.select();
  }
}
