// Languages that the overall form of a text shows. This is adapters/detection/form.go with expressions that do not
// backtrack: a test compares what both answer.

// The kinds of lines. A line is of the first kind that fits.
const kinds: [string, RegExp][] = [
  ["hunk", /^@@ -.* @@/],
  ["fence", /^\s*```/],
  ["heading", /^#+ /],
  ["comment", /^\s*[#;]/],
  ["section", /^\s*\[.*\]$/],
  ["item", /^\s*(- |-$|---$)/],
  ["markup", /^\s*(\* |\d+\. |> |!\[|\*\*|\|.*\|$)|\]\(/],
  ["quoted", /^\s*(?:[\p{L}\d_."/$\-]+\s*=\s*["'\[\{]|"[^"]*"\s*=)/u],
  ["setting", /^\s*[\p{L}\d_./$\-]+\s*=/u],
  ["code", /[{;]$/],
  ["column", /^\s*[^:]+:(\t| {2,})\S/],
  ["pair", /^\s*["']?[\p{L}_./$][\p{L}\d_./$\-]*["']?:( |$)/u],
  ["nested", /^\s/],
  ["sentence", /^(\p{L}\S*\s+){3}\p{L}/u],
];

// The beginning of a TOML value that ends on a later line.
const opening = /^\s*[\w."-]+\s*=\s*(\[[^\]]*|"""(?:[^"]|"[^"])*)$/;

const image = /^(?:(?:#.*|ARG .*|)\n)*FROM (?:--platform=\S+ )?[\w./:@${}-]+(?: (?:AS|as) \S+)? *\n/;
const step = /^(?:RUN|CMD|COPY|ADD|ENTRYPOINT|ENV|WORKDIR|EXPOSE|USER|LABEL|VOLUME) \S/m;

const makeAssignment = /^ *(?:export )?[\w.-]+\s*[:?+!]{1,2}=|^ *[A-Za-z_][\w.-]*\s*=.*\$\(\w/;
const makeTarget = /^[\w.%/$(){} -]+:(?:[^=]|$)/;
const makeOther = /^-?(?:include|ifeq|ifneq|ifdef|ifndef|else|endif|define|endef|export|vpath)\b|\\$|^#|^[\w.-]+\s*=|^\s+\S/;
const codeEnd = /[{;]$|^\s*[})\]]/;

const longLine = 400; // characters of a line that are read: its beginning and its end are enough
const shortened = (line: string) =>
  line.length <= longLine ? line : line.slice(0, longLine / 2) + line.slice(-longLine / 2);

// trimmed returns a line without the blanks at its end. /[ \t]+$/ would try each blank as the first one.
function trimmed(line: string, blanks: string): string {
  let end = line.length;
  while (end > 0 && blanks.includes(line[end - 1]!)) end--;
  return line.slice(0, end);
}

// linesOf returns the lines of a text, without the empty one behind its last line end.
const linesOf = (text: string) => text.split("\n").slice(0, text.endsWith("\n") ? -1 : undefined);

function isMakefile(text: string): boolean {
  let [filled, fitting, assignments, rules, directives] = [0, 0, 0, 0, 0];
  let afterTarget = false;
  for (const whole of linesOf(text)) {
    const line = shortened(trimmed(whole, " \r"));
    const begins = afterTarget;
    afterTarget = false;
    if (!line) continue;
    filled++;
    if (line.startsWith("\t") && !line.endsWith("{") && !line.trim().startsWith("}")) {
      fitting++;
      if (begins) rules++;
    } else if (codeEnd.test(line)) {
      continue;
    } else if (makeAssignment.test(line)) {
      assignments++;
      fitting++;
    } else if (makeTarget.test(line)) {
      afterTarget = true;
      fitting++;
    } else if (makeOther.test(line)) {
      fitting++;
      if (!line.startsWith("#") && !line.startsWith(" ")) directives++;
    }
  }
  return 10 * fitting >= 9 * filled && (rules > 0 && assignments > 0 || rules > 1 && directives + assignments > 0 ||
    assignments > 0 && assignments + directives > 1);
}

// A token of JSON: a sign, a string or another value.
const token = new RegExp(
  String.raw`\s*(?:([[\]{},:])|("[^"\\\x00-\x1f]*(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*)*")|` +
  String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)`, "y");
const cutToken = /^\s*(?:"[^"\\\x00-\x1f]*(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*)*\\?|-|tr?u?|fa?l?s?|nu?l?)?$/;

/** isJSON reports whether a text is objects and arrays, or the beginning of them. */
function isJSON(text: string): boolean {
  if (!/^[[{]/.test(text)) return false;
  const open: string[] = [];
  let wanted = "value"; // or "key", "colon", "comma"; "first" is a value or key, or the end of what has none
  let at = 0;
  for (let tokens = 0; ; tokens++) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) return tokens > 1 && cutToken.test(text.slice(at));
    at = token.lastIndex;
    const [, sign, string] = match;
    const within = open.at(-1);
    const done = () => { wanted = open.length ? "comma" : "value"; };
    if (sign === "}" || sign === "]") {
      if (within !== (sign === "}" ? "{" : "[") || wanted !== "comma" && wanted !== "first") return false;
      open.pop();
      done();
    } else if (sign === ",") {
      if (wanted !== "comma") return false;
      wanted = within === "{" ? "key" : "value";
    } else if (sign === ":") {
      if (wanted !== "colon") return false;
      wanted = "value";
    } else if (wanted === "key" || wanted === "first" && within === "{") {
      if (!string) return false;
      wanted = "colon";
    } else if (wanted !== "value" && wanted !== "first") {
      return false;
    } else if (sign) {
      open.push(sign);
      wanted = "first";
    } else {
      done();
    }
  }
}

// Yaml looks for signs that a text is no YAML document, but the output of a program.
class Yaml {
  plausible = false; // it begins like a document, and no key at the top occurs twice
  scalar = 0; // lines of block scalars
  private keys = new Set<string>(); // at the top
  private block = 0; // the indentation of the line that a block scalar belongs to, plus 1; 0: no block

  read(line: string, kind: string, first: boolean): void {
    const indented = /^ */.exec(line)![0].length;
    if (this.block > 0 && indented >= this.block) {
      if (kind === "nested") this.scalar++;
      return;
    }
    this.block = /[|>][+-]?$/.test(line) ? indented + 1 : 0;
    if (first) this.plausible = ["pair", "item", "comment", "heading"].includes(kind) || line.startsWith("%YAML");
    if (line.startsWith("---")) this.keys.clear();
    const key = /^[^\s#:-][^:]*:/.exec(line)?.[0];
    if (!key) return;
    this.plausible &&= !this.keys.has(key);
    this.keys.add(key);
  }
}

/** formOf returns the name of the language that the form of a text shows, or "". */
export function formOf(whole: string): string {
  const text = whole.trim();
  if (isJSON(text)) return "JSON";
  if (/^<(!doctype html|html)/i.test(text)) return text.includes("<?php") ? "PHP" : "HTML";
  if (/^<\?xml/i.test(text)) return "XML";
  const from = image.exec(text);
  if (from && step.test(text.slice(from[0].length))) return "Dockerfile";
  if (isMakefile(text)) return "Makefile";
  const counts: Record<string, number> = {};
  const n = (kind: string) => counts[kind] ?? 0;
  let [filled, previous, within] = [0, "", ""]; // within is the end of the multi-line value that the line is in
  const document = new Yaml();
  for (const long of linesOf(text)) {
    const line = shortened(trimmed(long, " \t\r"));
    const afterBlank = previous === "";
    previous = line;
    if (!line) continue;
    filled++;
    if (within) { // a value that an earlier line has begun
      counts.quoted = n("quoted") + 1;
      if (line.includes(within)) within = "";
      continue;
    }
    const begun = opening.exec(line)?.[1];
    if (begun) within = begun.startsWith("\"") ? "\"\"\"" : "]";
    const kind = kinds.find(([name, fits]) => fits.test(line) && (name !== "heading" || afterBlank))?.[0];
    if (!kind) continue;
    counts[kind] = n(kind) + 1;
    document.read(line, kind, filled === 1);
  }
  const settings = n("setting") + n("quoted");
  const pairs = n("pair");
  const comments = n("comment") + n("heading");
  const prose = n("heading") + n("fence") + n("item") + n("markup") + n("sentence");
  if (n("hunk") && (!n("fence") || !n("heading"))) return "diff";
  if (n("fence") && (n("fence") % 2 === 0 || n("heading")) ||
    n("heading") && 2 * prose > filled && 10 * (settings + pairs + n("code")) <= filled) return "Markdown";
  if (n("section") && settings + n("section") + comments === filled) return n("quoted") ? "TOML" : "Properties files";
  if (pairs && filled - comments > 1 && !n("code") && document.plausible &&
    10 * (pairs + n("item") + document.scalar + comments) >= 9 * filled && 2 * n("column") < pairs) return "YAML";
  return "";
}
