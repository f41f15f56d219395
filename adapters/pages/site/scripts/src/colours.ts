// Colours for encrypted code. All modes are in one file, because a request for one mode would tell the server the language
// of the code.
import {StreamParser, StringStream} from "@codemirror/streamparser";
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
import {javascript, json, typescript} from "@codemirror/legacy-modes/mode/javascript";
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
import {html, xml} from "@codemirror/legacy-modes/mode/xml";
import {yaml} from "@codemirror/legacy-modes/mode/yaml";
import {Span} from "./lines";

// Each mode with the names and the extensions of its languages.
const modes: [StreamParser<any>, string, string][] = [
  [clike.c, "C", "c h"], [clike.cpp, "C++|Cuda", "cpp cc cxx hpp hh ino"], [clike.csharp, "C#", "cs"],
  [clike.dart, "Dart", "dart"], [clike.java, "Java|Apex|Processing", "java"], [clike.kotlin, "Kotlin|Gradle Kotlin DSL", "kt kts"],
  [clike.objectiveC, "Objective-C|Objective-C++", "m mm"], [clike.scala, "Scala", "scala sbt"],
  [clojure, "Clojure|ClojureScript", "clj cljs edn"], [cmake, "CMake", "cmake"], [css, "CSS|PostCSS", "css"],
  [diff, "diff", "diff patch"], [dockerFile, "Dockerfile", "dockerfile"], [erlang, "Erlang", "erl"], [fSharp, "F#", "fs fsx"],
  [go, "Go", "go"], [groovy, "Groovy|Gradle", "groovy gradle"], [haskell, "Haskell", "hs"], [html, "HTML|Svelte", "html htm vue svelte"],
  [javascript, "JavaScript|JSX", "js mjs cjs jsx"], [json, "JSON|JSON5|JSON-LD|JSON with Comments|Jupyter Notebook", "json jsonc ipynb"],
  [julia, "Julia", "jl"], [less, "LESS", "less"], [lua, "Lua", "lua"], [nginx, "Nginx", ""], [oCaml, "OCaml", "ml mli"],
  [perl, "Perl", "pl pm"], [powerShell, "PowerShell", "ps1 psm1"],
  [properties, "Properties files|Java Properties|EditorConfig|Git Config", "ini cfg conf properties"],
  [protobuf, "ProtoBuf", "proto"], [python, "Python|Xonsh|Snakemake", "py pyw"], [r, "R", "r"], [ruby, "Ruby", "rb"],
  [rust, "Rust", "rs"], [sCSS, "SCSS", "scss"], [shell, "Shell|Dotenv", "sh bash zsh env"],
  [standardSQL, "SQL|MySQL|MariaDB SQL|PostgreSQL|SQLite|PLSQL|MS SQL", "sql"], [swift, "Swift", "swift"], [toml, "TOML", "toml"],
  [typescript, "TypeScript", "ts tsx"], [xml, "XML|SVG|XSLT|Maven POM|COLLADA", "xml svg xsl"], [yaml, "YAML|OASv3-yaml", "yaml yml"],
];

// modeOf returns the mode of a language or, without one, of a file name, because the form cannot ask the server.
function modeOf(language: string, file: string): StreamParser<unknown> | undefined {
  const name = language.toLowerCase();
  if (name && name !== "plain text") {
    return modes.find(([, names]) => names.toLowerCase().split("|").includes(name))?.[0];
  }
  const extension = /\.([^.]+)$/.exec(file.toLowerCase())?.[1];
  return extension ? modes.find(([, , extensions]) => extensions.split(" ").includes(extension))?.[0] : undefined;
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

const most = 256 << 10; // characters of one code that get colours
const longest = 10_000; // characters of a line that get colours
const patience = 1000; // milliseconds for one code
const unit = 4; // spaces of an indentation and of a tab

/** spansOf returns the colours of code, or of its beginning. */
export function spansOf(language: string, file: string, code: string): Span[] {
  const mode = modeOf(language, file);
  if (!mode) return [];
  const spans: Span[] = [];
  const add = (length: number, name: string) => {
    const last = spans.at(-1);
    if (last && last[1] === name) last[0] += length;
    else if (length) spans.push([length, name]);
  };
  const state = mode.startState?.(unit) ?? {};
  const end = performance.now() + patience;
  for (const line of code.slice(0, most).split("\n")) {
    if (line.length > longest || performance.now() > end) return spans;
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
