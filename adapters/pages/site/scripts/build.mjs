// Bundles the scripts of the pages into ../assets, and collects the licences of what they contain.
// "go generate ./adapters/pages/site" runs it.
import {build} from "esbuild";
import {readFile, readdir, rm, writeFile} from "node:fs/promises";

const assets = "../assets/";
for (const name of await readdir(assets)) if (/^chunk-/.test(name)) await rm(assets + name);

// Of the catalogue, scripts need only how languages are found.
const catalogue = {
  name: "catalogue",
  setup({onResolve, onLoad}) {
    onResolve({filter: /^catalogue$/}, () => ({path: "../../../catalogue/languages.json", namespace: "catalogue"}));
    onLoad({filter: /./, namespace: "catalogue"}, async ({path}) => ({
      loader: "json",
      contents: JSON.stringify(JSON.parse(await readFile(path, "utf8")).map(language =>
        [language.Name, ...["Aliases", "Owns", "Filenames", "Interpreters"].map(key => language[key] ?? [])])),
    }));
  },
};

const options = {
  outdir: assets,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  loader: {".txt": "text"},
  plugins: [catalogue],
  legalComments: "none", // LICENSES has them
  metafile: true,
};
const bundles = [
  await build({...options, entryPoints: ["src/encrypted.ts", "src/page.ts", "src/passkeys.ts"], external: ["./colours.js"]}),
  // The form loads the editor when it is drawn, and each of the editor's modes when a snippet needs it.
  await build({...options, entryPoints: ["src/form.ts"], splitting: true, chunkNames: "chunk-[hash]"}),
  await build({...options, entryPoints: ["src/colours.ts"]}),
];

const packages = new Set();
for (const {metafile} of bundles) {
  for (const input of Object.keys(metafile.inputs)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1];
    if (name) packages.add(name);
  }
}
const texts = new Map();
for (const name of [...packages].sort()) {
  const {version} = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
  const text = (await readFile(`node_modules/${name}/LICENSE`, "utf8")).trim();
  texts.set(text, [...texts.get(text) ?? [], name + " " + version]);
}
const rule = "=".repeat(80);
const licences = [...texts].map(([text, names]) => [rule, ...names, rule, "", text, ""].join("\n"));
await writeFile("LICENSES", licences.join("\n"));
