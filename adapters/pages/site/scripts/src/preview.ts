// Write and Preview of a snippet in Markdown. The server renders the preview as it will render the paste, so there is no
// preview of what will be encrypted.
import {button, find} from "./dom";
import {encrypts} from "./encryption";
import {fieldsOf, onAdd, snippets} from "./snippets";

declare function offerCopy(button: Element): void; // in script.js

const markdown = /\.(md|markdown|mdown|mkd)$/i;

function isMarkdown(snippet: HTMLElement): boolean {
  const {name, language} = fieldsOf(snippet);
  const chosen = language.value.toLowerCase();
  return chosen === "markdown" || (!chosen || chosen === "autodetect") && markdown.test(name.value);
}

function offer(snippet: HTMLElement, keep: () => void): void {
  const {name, language, code} = fieldsOf(snippet);
  const shown = document.createElement("div");
  shown.className = "rendered preview";
  shown.hidden = true;
  const show = (previews: boolean) => {
    shown.hidden = !previews;
    code.closest(".field")!.toggleAttribute("hidden", previews);
    writing.setAttribute("aria-pressed", String(!previews));
    previewing.setAttribute("aria-pressed", String(previews));
  };
  const writing = button("Write", () => show(false));
  const previewing = button("Preview", async () => {
    update();
    if (tabs.hidden) return;
    keep();
    const body = new FormData();
    body.set("code", code.value);
    shown.textContent = "Rendering…";
    show(true);
    const answer = await fetch(find("paste-form").dataset.home + "preview", {method: "POST", body, headers: {Accept: "text/html"}}).catch(() => null);
    const page = new DOMParser().parseFromString(await answer?.text() ?? "", "text/html");
    const rendered = page.querySelector(".rendered") ?? page.querySelector("main p");
    shown.replaceChildren(...(rendered ? Array.from(rendered.childNodes) : ["The server does not answer. Try again."]));
    shown.querySelectorAll("button.copy").forEach(offerCopy);
  });
  const tabs = document.createElement("p");
  tabs.className = "tools";
  tabs.append(writing, previewing);
  code.closest(".field")!.before(tabs);
  code.closest(".field")!.after(shown);
  const update = () => {
    tabs.hidden = encrypts() || !isMarkdown(snippet);
    if (tabs.hidden) show(false);
  };
  for (const field of [name, language]) field.addEventListener("input", update);
  document.getElementById("encrypt")?.addEventListener("change", update);
  show(false);
  update();
}

export function begin(keep: () => void): void {
  for (const snippet of snippets()) offer(snippet, keep);
  onAdd(snippet => offer(snippet, keep));
}
