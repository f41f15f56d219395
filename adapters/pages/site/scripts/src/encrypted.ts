// The page of an encrypted paste, and the page that asks before it opens a burning one.
import {Content, decrypt, fromBase64, insecure, lengths, Pasty, version, withPassword} from "./cipher";
import {find, say} from "./dom";
import {linesOf, show} from "./lines";
import {chosen} from "./wrapping";

// In script.js:
declare function offerCopy(button: Element): void;
declare function arrive(): void; // at the lines that the address names
declare function select(scroll: boolean): void; // these lines
declare function oneStop(code: Element): void; // of the tab key

// The key in the address; the lines of a link stand behind it, as in #KEY&L3-L7.
const keyText = () => location.hash.slice(1).replace(/&.*/, "");

// keyInLink returns the key, or null if the link lacks a part of it.
function keyInLink(): Uint8Array<ArrayBuffer> | null {
  try {
    const key = fromBase64(keyText());
    return key.length === lengths.key ? key : null;
  } catch {
    return null;
  }
}

const noKey = "Part of the key after the # is missing from the link. Ask for the whole link.";

// contentOf parses the paste in a plaintext. It fails if the plaintext is something else.
function contentOf(text: string): Content {
  const asText = (value: unknown): string => {
    if (typeof (value ?? "") !== "string") throw new TypeError();
    return (value ?? "") as string;
  };
  const {title, pasties} = JSON.parse(text);
  if (!Array.isArray(pasties) || pasties.length > 1000) throw new TypeError();
  return {title: asText(title), pasties: pasties.map((pasty): Pasty => {
    if (Object.getPrototypeOf(pasty) !== Object.prototype) throw new TypeError();
    return {title: asText(pasty.title), language: asText(pasty.language), code: asText(pasty.code)};
  })};
}

function showPaste(content: Content): void {
  find("heading").textContent = content.title || "Encrypted paste"; // not the document's title, which browsers keep and synchronise
  const several = content.pasties.length > 1;
  const codes = content.pasties.map((pasty, i) => {
    const copy = find<HTMLTemplateElement>("pasty").content.cloneNode(true) as DocumentFragment;
    const section = copy.firstElementChild!;
    const name = pasty.title || "Snippet " + (i + 1);
    section.querySelector("h2")!.textContent = name;
    const lines = linesOf(pasty.code);
    section.querySelector(".facts")!.replaceChildren(...[pasty.language, lines + (lines === 1 ? " line" : " lines")].map(text => {
      const fact = document.createElement("span");
      fact.textContent = text;
      return fact;
    }));
    const pre = section.querySelector("pre")!;
    pre.setAttribute("aria-label", "Code of " + name + (several && pasty.title ? ", snippet " + (i + 1) : ""));
    wrap(pre, pasty.language);
    const code = section.querySelector("code")!;
    show(code, pasty.code, [], anchorOf(content, i), keyText() + "&");
    const download = section.querySelector("a")!;
    download.href = URL.createObjectURL(new Blob([pasty.code], {type: "application/octet-stream"}));
    download.download = pasty.title || "snippet-" + (i + 1) + ".txt";
    find("main").append(section);
    offerCopy(section.querySelector(".copy")!);
    oneStop(code);
    return code;
  });
  arrive();
  void colour(content, codes);
}

const anchorOf = (content: Content, i: number) => content.pasties.length > 1 ? i + 1 + "-" : "";

// wrap wraps the long lines of prose, unless the reader has chosen.
function wrap(code: Element, language: string): void {
  const wraps = chosen() ?? (language === "Plain Text" ? "wrapped" : "");
  if (wraps && !code.matches(".wrapped, .unwrapped")) code.classList.add(wraps);
}

const patience = 1000; // milliseconds for the colours of a page

// colour adds languages and colours to codes that are shown. Their modes come when the code is there, and are the same
// for all.
async function colour(content: Content, codes: HTMLElement[]): Promise<void> {
  const colours = await import("./colours.js").catch(() => null);
  const languageOf = colours?.languageOf ?? (chosen => chosen || "Plain Text");
  let left = patience;
  for (const [i, {title, code, ...pasty}] of content.pasties.entries()) {
    const shown = codes[i]!;
    if (!shown.isConnected) return; // another paste is shown
    const began = performance.now();
    try {
      const language = languageOf(pasty.language, title, code);
      shown.closest(".pasty")!.querySelector(".facts span")!.textContent = language;
      wrap(shown.parentElement!, language);
      const spans = colours?.spansOf(language, code, began + left) ?? [];
      if (spans.length) {
        const focused = shown.contains(document.activeElement) ? document.activeElement!.id : "";
        show(shown, code, spans, anchorOf(content, i), keyText() + "&");
        oneStop(shown);
        if (focused) find(focused).focus({preventScroll: true});
      }
    } catch { /* a fault of a mode leaves this code as it is */ }
    left -= performance.now() - began;
    await new Promise(resolve => setTimeout(resolve)); // a page of many codes answers its reader between them
  }
  select(false); // the reader may have scrolled since
}

async function openPaste(password?: string): Promise<void> {
  const {version: format, salt = "", cipher = ""} = find("cipher").dataset;
  const problem = find("decrypted");
  say(problem, "");
  if (!crypto.subtle) return say(problem, insecure);
  if (format !== String(version)) {
    return say(problem, "This paste has format " + format + ", which is newer than this page. Reload it, or tell the operator.");
  }
  let all: Uint8Array<ArrayBuffer>;
  try {
    all = fromBase64(cipher);
  } catch {
    all = new Uint8Array();
  }
  if (all.length <= lengths.nonce + lengths.tag) return say(problem, "The paste was truncated: there is nothing left to decrypt.");
  find("unlock").hidden = !salt;
  if (salt && password === undefined) return find("password").focus();
  const secret = salt ? password : keyInLink();
  if (!secret) return say(problem, noKey);
  say(problem, "Decrypting…");
  let text: string;
  try {
    text = await decrypt(all, secret, salt);
  } catch {
    return say(problem, salt ? "The password is wrong, or the paste was changed or truncated." :
      "The key in the link does not fit the paste, or the paste was changed or truncated.");
  }
  find("unlock").hidden = true;
  for (const shown of document.querySelectorAll("section.pasty")) shown.remove();
  let content: Content;
  try {
    content = contentOf(text);
  } catch {
    return say(problem, "The decrypted content is not a paste. The program that encrypted it may have a bug.");
  }
  say(problem, "");
  showPaste(content);
}

// withLink acts on the key in the link now, and whenever it changes.
function withLink(act: () => void): void {
  let [link, key] = [location.hash, keyText()];
  addEventListener("hashchange", () => {
    if (location.hash === "#main") return history.replaceState(null, "", link); // not a key
    const same = key === keyText();
    [link, key] = [location.hash, keyText()];
    if (!same) act();
  });
  act();
}

if (document.getElementById("cipher")) {
  find("unlock").addEventListener("submit", event => {
    event.preventDefault();
    void openPaste(find<HTMLInputElement>("password").value);
  });
  withLink(() => void openPaste());
}

// The question before a burning paste is opened. The page does not ask if it could not decrypt the paste.
const noWay = noKey + " If the paste has a password, add #" + withPassword + " to the end of the link.";

if (document.getElementById("open")) {
  withLink(() => {
    const problem = !crypto.subtle ? insecure : keyInLink() || keyText() === withPassword ? "" : noWay;
    const form = find<HTMLFormElement>("open");
    say(find("decrypted"), problem);
    form.hidden = problem !== "";
    form.action = form.getAttribute("action")!.replace(/#.*/, "") + location.hash;
  });
}
