// Writes codemirror.json, the facts that CodeMirror 5's mode registry (mode/meta.js) states about each
// language. Run it with "go generate ./adapters/catalogue"; it needs Node.js and npm.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import vm from "node:vm";

const version = "5.65.21";
const folder = mkdtempSync(join(tmpdir(), "codemirror-"));
try {
  const packed = execFileSync("npm", ["pack", "--silent", `codemirror@${version}`], { cwd: folder, encoding: "utf8" });
  execFileSync("tar", ["-xzf", packed.trim(), "package/mode/meta.js"], { cwd: folder });
  const CodeMirror = {};
  vm.runInNewContext(readFileSync(join(folder, "package/mode/meta.js"), "utf8"), { CodeMirror });
  const languages = CodeMirror.modeInfo.map(({ name, mode, mime, mimes, ext, alias }) => ({
    name,
    mode,
    // The registry puts the preferred type into mime when there are several, too.
    mimes: mimes ?? [mime],
    ext: ext ?? [],
    alias: alias ?? [],
  }));
  const lines = languages.map((language) => "    " + JSON.stringify(language));
  writeFileSync(
    new URL("codemirror.json", import.meta.url),
    `{\n  "origin": "npm package codemirror, mode/meta.js",\n  "version": "${version}",\n  "languages": [\n${lines.join(",\n")}\n  ]\n}\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
