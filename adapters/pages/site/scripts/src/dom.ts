// Small helpers for the elements of a page.

/** find returns the element with that id, which the page must have. */
export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error("no element " + id);
  return element as T;
}

/** say shows a problem in its element, or hides the element if the text is empty. */
export function say(where: HTMLElement, text: string): void {
  where.textContent = text;
  where.hidden = !text;
  where.className = "problem";
}

/** button returns a button that acts on this page and does not send a form. */
export function button(label: string, act: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", act);
  return made;
}

/** answer shows on a button, for a moment, what it has done. */
export function answer(button: HTMLButtonElement, text: string): void {
  const label = button.dataset.label ??= button.textContent;
  button.textContent = text;
  setTimeout(() => { button.textContent = label; }, 2000);
}
