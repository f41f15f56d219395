// Files that are chosen, dropped or pasted become snippets at once.
import {find, say} from "./dom";
import {add, Fields, fieldsOf, isEmpty, maxSnippets, snippets} from "./snippets";

const limit = () => Number(find("paste-form").dataset.limit);

function inWords(bytes: number): string {
  return bytes >= 1 << 20 ? Math.round(bytes / (1 << 20) * 10) / 10 + " MiB" : Math.ceil(bytes / 1024) + " KiB";
}

/** textOf returns the text of a file, or fails with a sentence that names it. */
async function textOf(file: File): Promise<string> {
  const most = limit();
  if (most && file.size > most) throw new Error(file.name + " is larger than " + inWords(most) + ".");
  try {
    return new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(await file.arrayBuffer());
  } catch {
    throw new Error(file.name + " is not UTF-8 text.");
  }
}

/** Sets the text of a snippet, also where an editor shows it. */
export type Write = (fields: Fields, text: string) => void;

async function take(files: Iterable<File>, write: Write, keep: () => void): Promise<void> {
  const problems: string[] = [];
  for (const file of files) {
    try {
      const text = await textOf(file);
      keep(); // what was typed just now must not be taken for empty
      const last = snippets().at(-1);
      const snippet = last && isEmpty(last) ? last : add();
      if (!snippet) throw new Error("A form can have at most " + maxSnippets + " snippets: " + file.name + " was left out.");
      const {name} = fieldsOf(snippet);
      name.value = file.name;
      write(fieldsOf(snippet), text);
      for (const type of ["input", "change"]) name.dispatchEvent(new Event(type, {bubbles: true}));
    } catch (problem) {
      problems.push((problem as Error).message);
    }
  }
  say(find("files-problem"), problems.join(" "));
}

export function begin(write: Write, keep: () => void): void {
  const chooser = find<HTMLInputElement>("files");
  chooser.addEventListener("change", async () => {
    await take(Array.from(chooser.files ?? []), write, keep);
    chooser.value = ""; // they are snippets by now
  });
  addEventListener("dragover", event => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  // In the capturing phase: the editor has a handler of its own, which would insert the text where the pointer is.
  for (const type of ["drop", "paste"] as const) {
    addEventListener(type, event => {
      const files = (event instanceof DragEvent ? event.dataTransfer : (event as ClipboardEvent).clipboardData)?.files;
      if (!files?.length) return;
      event.preventDefault();
      event.stopPropagation();
      void take(Array.from(files), write, keep);
    }, {capture: true});
  }
}
