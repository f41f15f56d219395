// Finds languages on the server, and CodeMirror's modes for them.
import {LanguageDescription, LanguageSupport} from "@codemirror/language";
import {languages} from "@codemirror/language-data";

/** What the server says about a language (docs/API.md). */
export interface Language { name: string; mode: string; mimes: string[]; ext: string[] }

const base = () => document.getElementById("paste-form")!.dataset.base!;

// ask returns the server's language with a name or extension, or null.
async function ask(path: string): Promise<Language | null> {
  const answer = await fetch(base() + path, {credentials: "omit"}).catch(() => null);
  return answer?.ok ? await answer.json() as Language : null;
}

/** languageOf returns the language of a chosen name or, without one, of a file name. */
export async function languageOf(chosen: string, file: string): Promise<Language | null> {
  if (chosen && chosen.toLowerCase() !== "autodetect") {
    return ask("data/language?name=" + encodeURIComponent(chosen));
  }
  const extension = /\.([^.\s]+)$/.exec(file)?.[1];
  return extension ? ask("data/languageExt?extension=" + encodeURIComponent(extension)) : null;
}

/** modeOf loads the mode of a language, or returns null if CodeMirror has none. */
export async function modeOf(language: Language, file: string): Promise<LanguageSupport | null> {
  const description = LanguageDescription.matchLanguageName(languages, language.name, false) ??
    LanguageDescription.matchFilename(languages, file) ??
    LanguageDescription.matchFilename(languages, "x." + (language.ext[0] ?? "")) ??
    LanguageDescription.matchLanguageName(languages, language.mode, false);
  if (!description || language.mode === "null") return null;
  return description.load().catch(() => null);
}
