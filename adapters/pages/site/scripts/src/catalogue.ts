// The languages that the server knows (adapters/catalogue), for what it must not learn.
import entries from "catalogue"; // which build.mjs makes
import {detect, Names} from "./detect";

const names = new Map<string, string>(); // in lower case
const extensions = new Map<string, string>();
const files = new Map<string, string>();
const programs = new Map<string, string>();
for (const [name, aliases, owned, filenames, interpreters] of entries) {
  for (const alias of aliases) names.set(alias.toLowerCase(), name);
  for (const extension of owned) extensions.set(extension, name);
  for (const file of filenames) files.set(file, name);
  for (const program of interpreters) programs.set(program, name);
}
for (const [name, , owned] of entries) { // names win over aliases, and the exact case of an extension over any other
  names.set(name.toLowerCase(), name);
  for (const extension of owned) {
    if (!extensions.has(extension.toLowerCase())) extensions.set(extension.toLowerCase(), name);
  }
}

const byText: Names = {
  ofProgram: program => programs.get(program) ?? "",
  ofLanguage: name => names.get(name.toLowerCase()) ?? "",
};

// ofTitle returns the language that a file name or its longest extension names, or "".
function ofTitle(title: string): string {
  const base = title.slice(Math.max(title.lastIndexOf("/"), title.lastIndexOf("\\")) + 1);
  const named = files.get(base);
  if (named) return named;
  for (let dot = base.indexOf("."); dot >= 0; dot = base.indexOf(".", dot + 1)) {
    const extension = base.slice(dot + 1);
    const language = extension.length <= 64 && (extensions.get(extension) ?? extensions.get(extension.toLowerCase()));
    if (language) return language;
  }
  return "";
}

/** languageOf returns the language that was chosen or, without one, that of a file, as the server would. */
export function languageOf(chosen: string, title: string, code: string): string {
  if (chosen && chosen.toLowerCase() !== "autodetect") return names.get(chosen.toLowerCase()) ?? chosen;
  return ofTitle(title) || detect(code, byText) || "Plain Text";
}
