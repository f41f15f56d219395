// The form that creates and edits a paste.
import {find, say} from "./dom";
import * as drafts from "./drafts";
import * as encryption from "./encryption";
import type {Editor} from "./editor";
import * as files from "./files";
import * as preview from "./preview";
import * as snippets from "./snippets";

const form = find<HTMLFormElement>("paste-form");
const editors = new Map<HTMLTextAreaElement, Editor>();
let dirty = false;
let keeping = 0;

const keepEditors = () => { for (const editor of editors.values()) editor.keep(); };

/** write sets the text of a snippet, wherever it is shown. */
function write(fields: snippets.Fields, text: string): void {
  snippets.setCode(fields, text);
  editors.get(fields.code)?.write(fields.code.value);
  count();
}

function count(): void {
  let lines = 0;
  let bytes = 0;
  const utf8 = new TextEncoder();
  for (const snippet of snippets.snippets()) {
    const text = snippets.fieldsOf(snippet).code.value;
    lines += text ? text.split("\n").length - (text.endsWith("\n") ? 1 : 0) : 0;
    bytes += utf8.encode(text).length;
  }
  const plural = (n: number, word: string) => n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s");
  find("counts").textContent = plural(lines, "line") + ", " + plural(bytes, "byte");
}

function changed(): void {
  dirty = true;
  clearTimeout(keeping);
  keeping = setTimeout(() => { keepEditors(); count(); keepDraft(); }, 400);
}

snippets.begin();
encryption.begin();
const keepDraft = drafts.begin(write, encryption.encrypts);
files.begin(write, keepEditors);
preview.begin(keepEditors);
count();

form.addEventListener("input", changed);
snippets.onChange(changed);
addEventListener("pagehide", () => {
  keepEditors();
  if (dirty) keepDraft();
});
addEventListener("beforeunload", event => { if (dirty) event.preventDefault(); });

form.addEventListener("keydown", event => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(form.querySelector<HTMLButtonElement>("button.main"));
  }
});

form.addEventListener("submit", event => {
  keepEditors();
  const pressed = (event.submitter as HTMLButtonElement | null)?.value ?? "save";
  if (pressed === "add") {
    event.preventDefault();
    const added = snippets.add();
    say(find("files-problem"), added ? "" : "A form can have at most " + snippets.maxSnippets + " snippets.");
    if (added) snippets.fieldsOf(added).name.focus();
  } else if (pressed.startsWith("remove-")) {
    event.preventDefault();
    snippets.remove(event.submitter!.closest<HTMLElement>(".snippet")!);
  } else {
    dirty = false; // what is sent is not asked about
    drafts.saving();
    if (!encryption.encrypts()) return;
    event.preventDefault();
    void encryption.save(form).then(saved => { dirty = !saved; });
  }
}, {capture: true});

// The editor comes when the page has been drawn. Until then, and where it does not come, the textarea is there.
async function showEditors(): Promise<void> {
  const {mount} = await import("./editor");
  const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
  const show = (snippet: HTMLElement) => {
    const fields = snippets.fieldsOf(snippet);
    editors.set(fields.code, mount(fields, nonce, changed));
    const keys = document.createElement("span");
    keys.className = "hint keys";
    keys.textContent = find("editor-hint").textContent;
    fields.code.labels[0]?.append(" ", keys);
  };
  for (const snippet of snippets.snippets()) show(snippet);
  snippets.onAdd(show);
}

requestAnimationFrame(() => setTimeout(() => void showEditors()));
