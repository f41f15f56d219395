// Guesses the language of a text while somebody writes it. The text stays in this browser, because its writer may still
// encrypt it. For most texts this does what adapters/detection does, with the same table. That package decides what is
// stored.
import table from "../../../../detection/features.txt";

const scope = 16 << 10; // characters that are read
const enough = {points: 6, features: 2};

interface Node { next: Map<string, Node>; features: number[] }
interface Table { languages: string[]; root: Node; weights: {language: number; points: number}[] }

const node = (): Node => ({next: new Map(), features: []});

function parse(text: string): Table {
  const all: Table = {languages: [], root: node(), weights: []};
  const lines = new Map<string, string[]>(); // of each language
  const add = (line: string) => {
    const [points, ...tokens] = line.split(/\s+/);
    let at = all.root;
    for (const token of tokens) {
      let next = at.next.get(token);
      if (!next) at.next.set(token, next = node());
      at = next;
    }
    at.features.push(all.weights.length);
    all.weights.push({language: all.languages.length - 1, points: Number(points)});
  };
  let own: string[] = [];
  for (const line of text.split("\n").map(line => line.trim())) {
    if (!line || line.startsWith("#")) continue;
    const head = /^\[(.*?)(?: < (.*))?\]$/.exec(line);
    if (head) {
      own = [...lines.get(head[2] ?? "") ?? []];
      all.languages.push(head[1]!);
      lines.set(head[1]!, own);
      own.forEach(add);
    } else {
      own.push(line);
      add(line);
    }
  }
  return all;
}

const features = (() => {
  let parsed: Table | undefined;
  return () => parsed ??= parse(table);
})();

const comment = /^(\/\/|##? |#!|-- )/;
const word = /^[\p{L}\p{N}_\u0080-\uffff]+/u;
const letter = /^[a-z_\u0080-\uffff]/i;
const quotes: Record<string, string> = {"\"": "STR", "'": "CHR", "`": "RAW"};
const signs: Record<string, string> = {$: "VAR", "@": "ATT", "#": "HASH", ":": "SYM"};

// next returns the length and the class of the token that a text begins with.
function next(text: string): [length: number, name: string] {
  const first = text[0]!;
  if (first === "\n") return [/^[\n \t\r\v\f]+/.exec(text)![0].length, "NL"];
  if (letter.test(text)) return [word.exec(text)?.[0].length ?? 1, "ID"];
  if (/^\d/.test(text)) return [word.exec(text)![0].length, "NUM"];
  if (quotes[first]) {
    const end = text.slice(1, 512).search(first + "|\n");
    if (end >= 0 && text[end + 1] === first) return [end + 2, quotes[first]];
  } else if (signs[first] && letter.test(text.slice(1))) {
    return [1 + (word.exec(text.slice(1))?.[0].length ?? 1), signs[first]];
  }
  return [/^[!%&*+\-./:<=>?|~]+/.exec(text)?.[0].length ?? 1, ""];
}

function tokenize(text: string, visit: (token: string, name: string) => void): void {
  visit("", "START");
  visit("", "NL");
  for (let rest = text.trim(); rest;) {
    let [length, name] = next(rest);
    visit(rest.slice(0, length), name);
    if (comment.test(rest)) {
      const line = rest.split("\n", 1)[0]!;
      visit(line.slice(length), "TXT");
      length = line.length;
    }
    rest = rest.slice(length).replace(/^[ \t\r\v\f]+/, "");
  }
  visit("", "NL");
}

const codeLine = /[{}();]|[=<>!+*/-]=|=>|->|::|<[/a-zA-Z!]|^[#@]\w|^(end|else|do)$/;
const remark = /^(\/\/|\/\*|\*|# |#$|--|;)/;
const commands = ["Shell", "Dockerfile", "Makefile", "SQL", "PowerShell", "Batchfile", "Ruby"];

// Texts that are not code: prose with words of SQL but no statement, and Python's tracebacks.
const statement = /^\s*(select\s[^;]*?\sfrom\s|insert\s+into|update\s+\S+\s+set|delete\s+from|(create|alter|drop|with)\s+\w)/im;
const unlikely = (language: string, text: string) =>
  language === "SQL" && !statement.test(text) || text.startsWith("Traceback (most recent call last)");

// needed returns how many points a text needs. It needs more if fewer of its lines look like code.
function needed(language: string, text: string): number {
  const lines = text.split("\n").map(line => line.trim()).filter(line => line && !remark.test(line));
  const share = lines.filter(line => codeLine.test(line)).length / Math.max(1, lines.length);
  if (share >= .5) return enough.points;
  return share >= .3 || commands.includes(language) ? 9 : share >= .12 ? 13 : 20;
}

// Forms of whole texts.
const forms: [string, (text: string) => boolean][] = [
  ["PHP", text => /^<\?php/.test(text)],
  ["HTML", text => /^<(!doctype html|html)/i.test(text)],
  ["XML", text => text.startsWith("<?xml")],
  ["JSON", text => /^\{\s*"[^"\n]*"\s*:/.test(text)],
  ["diff", text => /^@@ -.* @@/m.test(text)],
  ["Dockerfile", text => /^((#.*|ARG .*|)\n)*FROM [\w./:@${}-]+( as \S+)?\s*\n/i.test(text)],
  ["Markdown", text => /^#{1,6} .*\n\s*\n\S/.test(text) && /^(#{2,6} |```|- |\d+\. )/m.test(text)],
];

/** detect returns the name of the language, or "" if it is not clear. */
export function detect(code: string): string {
  const text = code.slice(0, scope).replace(/^\ufeff/, "").trim();
  const program = /^#![ \t]*(?:(?:\S*\/)?env[ \t]+(?:(?:-|\S+=)\S*[ \t]+)*)?(?:\S*\/)?([a-z]+)/i.exec(text)?.[1];
  if (program) return {bash: "Shell", sh: "Shell", zsh: "Shell", node: "JavaScript"}[program] ?? program;
  for (const [name, fits] of forms) if (fits(text)) return name;
  const {languages, root, weights} = features();
  const found = new Set<number>();
  const scores = languages.map(() => ({points: 0, features: 0}));
  let open: Node[] = [];
  tokenize(text, (token, name) => {
    const keys = [token, name];
    if (name === "ID" && token.toLowerCase() !== token) keys.push(token.toLowerCase());
    const begun: Node[] = [];
    for (const at of [...open, root]) {
      for (const key of keys) {
        const child = at.next.get(key);
        if (!child) continue;
        begun.push(child);
        for (const feature of child.features) {
          if (found.has(feature)) continue;
          found.add(feature);
          const score = scores[weights[feature]!.language]!;
          score.points += weights[feature]!.points;
          score.features++;
        }
      }
    }
    open = begun;
  });
  let [best, most] = ["", 0];
  scores.forEach(({points, features}, i) => {
    if (features >= enough.features && points >= enough.points && points > most) [best, most] = [languages[i]!, points];
  });
  return most >= needed(best, text) && !unlikely(best, text) ? best : "";
}
