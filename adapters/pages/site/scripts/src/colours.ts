// Colours for encrypted code. All modes are in one file, because a request for one mode would tell the server the language
// of the code.
import {StreamParser, StringStream} from "@codemirror/streamparser";
import {Parser, parseMixed} from "@lezer/common";
import {parser as cssParser} from "@lezer/css";
import {highlightTree} from "@lezer/highlight";
import {configureNesting, parser as htmlParser} from "@lezer/html";
import {parser as javascript} from "@lezer/javascript";
import {parser as json} from "@lezer/json";
import {GFM, parser as markdownParser} from "@lezer/markdown";
import {parser as phpParser} from "@lezer/php";
import * as clike from "@codemirror/legacy-modes/mode/clike";
import {clojure} from "@codemirror/legacy-modes/mode/clojure";
import {cmake} from "@codemirror/legacy-modes/mode/cmake";
import {css, less, sCSS} from "@codemirror/legacy-modes/mode/css";
import {diff} from "@codemirror/legacy-modes/mode/diff";
import {dockerFile} from "@codemirror/legacy-modes/mode/dockerfile";
import {erlang} from "@codemirror/legacy-modes/mode/erlang";
import {go} from "@codemirror/legacy-modes/mode/go";
import {groovy} from "@codemirror/legacy-modes/mode/groovy";
import {haskell} from "@codemirror/legacy-modes/mode/haskell";
import {julia} from "@codemirror/legacy-modes/mode/julia";
import {lua} from "@codemirror/legacy-modes/mode/lua";
import {fSharp, oCaml} from "@codemirror/legacy-modes/mode/mllike";
import {nginx} from "@codemirror/legacy-modes/mode/nginx";
import {perl} from "@codemirror/legacy-modes/mode/perl";
import {powerShell} from "@codemirror/legacy-modes/mode/powershell";
import {properties} from "@codemirror/legacy-modes/mode/properties";
import {protobuf} from "@codemirror/legacy-modes/mode/protobuf";
import {python} from "@codemirror/legacy-modes/mode/python";
import {r} from "@codemirror/legacy-modes/mode/r";
import {ruby} from "@codemirror/legacy-modes/mode/ruby";
import {rust} from "@codemirror/legacy-modes/mode/rust";
import {shell} from "@codemirror/legacy-modes/mode/shell";
import {standardSQL} from "@codemirror/legacy-modes/mode/sql";
import {swift} from "@codemirror/legacy-modes/mode/swift";
import {toml} from "@codemirror/legacy-modes/mode/toml";
import {xml} from "@codemirror/legacy-modes/mode/xml";
import {yaml} from "@codemirror/legacy-modes/mode/yaml";
import {highlighter} from "./highlighter";
import {Span} from "./lines";

export {languageOf} from "./catalogue";

// The editor's parsers of what has other languages in it, or is in it.
const html = htmlParser.configure({wrap: configureNesting([
  {tag: "script", parser: javascript}, {tag: "style", parser: cssParser},
])});
const php = phpParser.configure({wrap: parseMixed(({type}) =>
  type.isTop ? {parser: html, overlay: node => node.name === "Text"} : null)});
const markdown = markdownParser.configure([GFM]);
const trees: [Parser, string][] = [
  [html, "HTML|Svelte|Vue.js Component"], [php, "PHP|HTML+PHP"],
  [markdown, "Markdown|GitHub Flavored Markdown|RMarkdown"],
  [javascript.configure({dialect: "jsx"}), "JavaScript|JSX"], [javascript.configure({dialect: "ts"}), "TypeScript"],
  [javascript.configure({dialect: "ts jsx"}), "TypeScript-JSX"],
  [json, "JSON|JSON5|JSON-LD|JSON with Comments|Jupyter Notebook"],
];

// The other parsers read line by line. Each is here with the names of its languages.
const modes: [StreamParser<any>, string][] = [
  [clike.c, "C"], [clike.cpp, "C++|Cuda"], [clike.csharp, "C#"], [clike.dart, "Dart"], [clike.java, "Java|Apex|Processing"],
  [clike.kotlin, "Kotlin|Gradle Kotlin DSL"], [clike.objectiveC, "Objective-C|Objective-C++"], [clike.scala, "Scala"],
  [clojure, "Clojure|ClojureScript|edn"], [cmake, "CMake"], [css, "CSS|PostCSS"], [diff, "diff"], [dockerFile, "Dockerfile"],
  [erlang, "Erlang"], [fSharp, "F#"], [go, "Go"], [groovy, "Groovy|Gradle"], [haskell, "Haskell"],
  [julia, "Julia"], [less, "LESS"], [lua, "Lua"],
  [nginx, "Nginx"], [oCaml, "OCaml"], [perl, "Perl"], [powerShell, "PowerShell"],
  [properties, "Properties files|Java Properties|EditorConfig|Git Config"], [protobuf, "ProtoBuf"],
  [python, "Python|Xonsh|Snakemake"], [r, "R"], [ruby, "Ruby"], [rust, "Rust"], [sCSS, "SCSS"], [shell, "Shell|Dotenv"],
  [standardSQL, "SQL|MySQL|MariaDB SQL|PostgreSQL|SQLite|PLSQL|MS SQL"], [swift, "Swift"], [toml, "TOML"],
  [xml, "XML|SVG|XSLT|Maven POM|COLLADA"], [yaml, "YAML|OASv3-yaml"],
];

function parserOf<P>(parsers: [P, string][], language: string): P | undefined {
  return parsers.find(([, names]) => names.split("|").includes(language))?.[0];
}

// The classes of the style sheet, by the modes' names for tokens. The first word of a name that is listed here counts.
const classes: Record<string, string> = {
  keyword: "k", qualifier: "k", modifier: "k", tag: "k", tagName: "k", type: "t", typeName: "t", className: "t", namespace: "t",
  builtin: "f", standard: "f", function: "f", string: "s", "string-2": "s", regexp: "s", escape: "e", character: "e",
  number: "m", atom: "m", bool: "m", null: "m", comment: "c", meta: "p", processingInstruction: "p", annotation: "p",
  attribute: "a", attributeName: "a", property: "a", propertyName: "a", labelName: "a", header: "h", heading: "h", strong: "h",
  em: "i", emphasis: "i", inserted: "n", positive: "n", deleted: "d", negative: "d",
};

function classOf(style: string | null): string {
  for (const word of style?.split(/[ .]/) ?? []) if (classes[word]) return classes[word];
  return "";
}

const most = 256 << 10; // characters that get colours
const longest = 10_000; // characters of a line that a mode reads
const mostSigns = 1000; // of a paragraph of Markdown
const unit = 4; // spaces of an indentation and of a tab

/** spansOf returns the colours of the beginning of a code, until that time on the clock of the page. */
export function spansOf(language: string, code: string, until: number): Span[] {
  const begins = code.slice(0, most);
  const parser = parserOf(trees, language);
  if (parser) return spansOfTree(parser, parser === markdown ? sparse(begins) : begins, until);
  const mode = parserOf(modes, language);
  return mode ? spansOfLines(mode, begins, until) : [];
}

// sparse returns Markdown up to its first paragraph with too many signs: the parser takes time quadratic in their number,
// and cannot be stopped within a paragraph.
function sparse(code: string): string {
  let length = 0;
  for (const paragraph of code.split(/(?<=\n)(?=[ \t]*\n)/)) {
    if ((paragraph.match(/[[\]*_~`<]/g)?.length ?? 0) > mostSigns) return code.slice(0, length);
    length += paragraph.length;
  }
  return code;
}

function spansOfTree(parser: Parser, code: string, until: number): Span[] {
  const parse = parser.startParse(code);
  let tree = parse.advance();
  for (; !tree; tree = parse.advance()) {
    if (performance.now() > until && parse.stoppedAt === null) parse.stopAt(parse.parsedPos);
  }
  const spans: Span[] = [];
  let at = 0;
  highlightTree(tree, highlighter, (from, to, name) => {
    if (from > at) spans.push([from - at, ""]);
    spans.push([to - from, name]);
    at = to;
  });
  return spans;
}

function spansOfLines(mode: StreamParser<unknown>, code: string, until: number): Span[] {
  const spans: Span[] = [];
  const add = (length: number, name: string) => {
    const last = spans.at(-1);
    if (last && last[1] === name) last[0] += length;
    else if (length) spans.push([length, name]);
  };
  const state = mode.startState?.(unit) ?? {};
  for (const line of code.split("\n")) {
    if (line.length > longest || performance.now() > until) return spans;
    const stream = new StringStream(line, unit, unit);
    if (!line) mode.blankLine?.(state, unit);
    for (let idle = 0; !stream.eol();) {
      stream.start = stream.pos;
      const style = mode.token(stream, state);
      add(stream.pos - stream.start, classOf(style));
      if (stream.pos > stream.start) idle = 0;
      else if (++idle > 10) return spans; // the mode does not advance
    }
    add(1, "");
  }
  return spans;
}
