// Drafts survive a reload and a closed tab: the browser stores them until they are saved, for at most a week.
import {button, find} from "./dom";
import {add, codeOf, fieldsOf, isEmpty, snippets} from "./snippets";
import {Write} from "./files";

interface Draft {
  at: number; // milliseconds
  base: string; // the edited revision
  title: string;
  snippets: {id: string; name: string; language: string; code: string}[];
}

const week = 7 * 24 * 3600 * 1000;
const largest = 1 << 20; // a browser stores about five million characters for a site

// A draft is its writer's: another account in the same browser does not see it.
const key = () => "draft " + find("paste-form").dataset.reader + " " + location.pathname;
const field = (name: string) => find<HTMLFormElement>("paste-form").elements.namedItem(name) as HTMLInputElement | null;

function now(): Draft {
  return {
    at: Date.now(),
    base: field("base")?.value ?? "",
    title: field("title")!.value,
    snippets: snippets().map(snippet => {
      const {name, language} = fieldsOf(snippet);
      return {
        id: snippet.querySelector<HTMLInputElement>("[name=snippet]")!.value,
        name: name.value, language: language.value, code: codeOf(fieldsOf(snippet)),
      };
    }),
  };
}

function restore(draft: Draft, write: Write): void {
  field("title")!.value = draft.title;
  const places = snippets();
  draft.snippets.forEach((kept, i) => {
    const snippet = places[i] ?? add();
    if (!snippet) return;
    const {name, language} = fieldsOf(snippet);
    snippet.querySelector<HTMLInputElement>("[name=snippet]")!.value = kept.id;
    name.value = kept.name;
    language.value = kept.language;
    write(fieldsOf(snippet), kept.code);
    for (const type of ["input", "change"]) name.dispatchEvent(new Event(type, {bubbles: true}));
  });
}

export const forget = () => { try { localStorage.removeItem(key()); } catch { /* there is no storage */ } };

/** begin restores a draft, and returns a function that stores the form. */
export function begin(write: Write, encrypts: () => boolean): () => void {
  const kept = JSON.stringify({...now(), at: 0});
  const empty = snippets().every(isEmpty) && !field("title")!.value;
  try {
    const draft = JSON.parse(localStorage.getItem(key()) ?? "null") as Draft | null;
    if (draft && Date.now() - draft.at < week && draft.base === (field("base")?.value ?? "") &&
      (empty || location.pathname !== find("paste-form").dataset.home) && !find("paste-form").dataset.again &&
      JSON.stringify({...draft, at: 0}) !== kept) {
      restore(draft, write);
      const status = find("draft-status");
      status.append("Restored what you were writing. ", button("Discard", () => {
        forget();
        discarded = true;
        location.reload();
      }));
    }
  } catch {
    forget(); // another version wrote it in another format
  }
  let discarded = false;
  return () => {
    try {
      const text = JSON.stringify(now());
      if (discarded) return;
      if (encrypts() || text.length > largest) localStorage.removeItem(key());
      else if (JSON.stringify({...now(), at: 0}) !== kept) localStorage.setItem(key(), text);
    } catch { /* there is no storage, or it is full */ }
  };
}

/** saving tells the next page which draft was saved. */
export const saving = () => { try { sessionStorage.setItem("saved draft", key()); } catch { /* there is no storage */ } };

