// Which language a text is probably in. The text stays in this browser: it is encrypted, or its writer may still choose to
// encrypt it. This is what adapters/detection does, with the same table. A test compares what both answer.
import table from "../../../../detection/features.txt";
import {formOf} from "./forms";

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
    const end = text.slice(1, 512).split("\n", 1)[0]!.indexOf(first);
    if (end >= 0) return [end + 2, quotes[first]];
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

// A statement in SQL, whose words prose has, too: a query, and others. A query that ends nowhere else ends with its line
// or with the text.
const query = /^[ \t]*select\s/im;
const source = new RegExp(String.raw`\sfrom\s+[^\s;)]+(?:[;)]|\s*$|\s+(?:\w+\s+)?(?:[;)]|$|where|(?:\w+\s+)?join|` +
  String.raw`order\s+by|group\s+by|limit|as\s))`, "i");
const statement = new RegExp(String.raw`^[ \t]*(?:select\s[^\n]*;$|insert\s+into|update\s+\S+\s+set|delete\s+from|` +
  String.raw`with\s+\w+\s+as|grant\s[^\n]*\son\s|(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:temp\w*\s+|unique\s+)?` +
  String.raw`(?:table|index|view|database|function|procedure|trigger|schema|user|role|type|sequence|extension|operator|` +
  String.raw`domain|policy)\b)`, "im");

// hasStatement reports whether a text has a statement in SQL. What no query before a semicolon has, a later one before
// the same has not either: each part of the text is searched once.
const hasStatement = (text: string) => statement.test(text) || text.split(/(?<=;)/).some(part => {
  const begins = query.exec(part);
  return begins !== null && source.test(part.slice(begins.index));
});

const traceback = /^\s*Traceback \(most recent call last\)/;

// needed returns how many points a text needs. It needs more if fewer of its lines look like code.
function needed(language: string, text: string): number {
  if (language === "SQL" && !hasStatement(text) || traceback.test(text)) return Infinity;
  const lines = text.split("\n").map(line => line.trim()).filter(line => line && !remark.test(line));
  const share = lines.filter(line => codeLine.test(line)).length / Math.max(1, lines.length);
  if (share >= .5) return enough.points;
  return share >= .3 || commands.includes(language) ? 9 : share >= .12 ? 13 : 20;
}

// programOf returns the program that a shebang names, even after env -S LANG=C.
function programOf(text: string): string {
  if (!text.startsWith("#!")) return "";
  const words = text.slice(2).split("\n", 1)[0]!.split(/[ \t\r]+/).filter(Boolean);
  const name = (word: string | undefined) => word?.slice(word.lastIndexOf("/") + 1) ?? "";
  if (name(words[0]) === "env" && words.length > 1) {
    words.shift();
    while (words[0] && /^-|^[^=]+=/.test(words[0])) words.shift();
  }
  return name(words[0]);
}

// modelineOf returns the language that a line for Emacs (-*- mode: ruby -*-) or Vim (vim: set ft=ruby :) names, or "".
function modelineOf(code: string): string {
  const head = code.slice(0, scope).split("\n").slice(0, 5);
  const tail = code.slice(-scope).trimEnd().split("\n").slice(-5);
  for (const long of [...head, ...tail]) {
    const line = long.slice(0, 400);
    const [, settings] = line.split("-*-", 3);
    const mode = settings !== undefined && line.includes("-*-", line.indexOf("-*-") + 3) &&
      (/(?:^|[ ;])mode: *([^ ;:]+)/i.exec(settings) ?? /^ *([^ ;:]+) *(?:;.*)?$/.exec(settings));
    const vim = /(?:^|\s)(?:vim?|ex):(?:.*[: \t])?(?:ft|filetype|syntax)=([^:\s]+)/.exec(line);
    const name = (mode || vim)?.[1];
    if (name) return name;
  }
  return "";
}

// mostLikely returns the name of the language whose features the text has most of, or "". A feature counts once.
function mostLikely(text: string): string {
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
  return most >= needed(best, text) ? best : "";
}

/** Names are what the names in shebangs and modelines mean: languages, or "". */
export interface Names { ofProgram(name: string): string; ofLanguage(name: string): string }

/** detect returns the name of the language, or "" where the text does not say. */
export function detect(code: string, names: Names): string {
  const all = code.replace(/^\ufeff/, "");
  const text = all.slice(0, scope).replace(/\r\n/g, "\n");
  const program = programOf(text.replace(/^[\r\n]+/, "")).slice(0, 64);
  return names.ofProgram(program) || names.ofProgram(program.replace(/[\d.-]+$/, "")) ||
    names.ofLanguage(modelineOf(all)) || formOf(text) || mostLikely(text);
}
