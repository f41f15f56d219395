"use strict";

// Pastes that only those with the key can read. docs/encryption.md describes the format.
const version = 1;
const rounds = 600000;
const lengths = {nonce: 12, salt: 16, key: 32, tag: 16};
const utf8 = new TextEncoder();
const random = length => crypto.getRandomValues(new Uint8Array(length));

function toBase64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

// fromBase64 fails where the text is not what toBase64 makes of the bytes, as other readers do.
function fromBase64(text) {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
  if (toBase64(bytes) !== text) throw new TypeError();
  return bytes;
}

// What is encrypted is authenticated together with the version and with how the key is made.
const header = salt => utf8.encode("gluepot 1 AES-256-GCM" + (salt ? " PBKDF2-SHA-256 " + rounds + " " + salt : ""));
const algorithm = (nonce, salt) => ({name: "AES-GCM", iv: nonce, additionalData: header(salt)});

// keyOf makes a key of a password if there is a salt, and otherwise of bytes.
async function keyOf(secret, salt) {
  if (!salt) return crypto.subtle.importKey("raw", secret, "AES-GCM", false, ["encrypt", "decrypt"]);
  const password = await crypto.subtle.importKey("raw", utf8.encode(secret), "PBKDF2", false, ["deriveKey"]);
  const derivation = {name: "PBKDF2", hash: "SHA-256", salt: fromBase64(salt), iterations: rounds};
  return crypto.subtle.deriveKey(derivation, password, {name: "AES-GCM", length: 256}, false, ["encrypt", "decrypt"]);
}

async function encrypt(content, secret, salt) {
  const nonce = random(lengths.nonce);
  const text = utf8.encode(JSON.stringify(content));
  const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm(nonce, salt), await keyOf(secret, salt), text));
  const all = new Uint8Array(nonce.length + sealed.length);
  all.set(nonce);
  all.set(sealed, nonce.length);
  return toBase64(all);
}

async function decrypt(all, secret, salt) {
  const [nonce, sealed] = [all.subarray(0, lengths.nonce), all.subarray(lengths.nonce)];
  const text = await crypto.subtle.decrypt(algorithm(nonce, salt), await keyOf(secret, salt), sealed);
  return new TextDecoder().decode(text);
}

// contentOf returns the paste in a plaintext, which no server has checked. It fails if there is none.
function contentOf(text) {
  const asText = value => {
    if (typeof (value ?? "") !== "string") throw new TypeError();
    return value ?? "";
  };
  const {title, pasties} = JSON.parse(text);
  if (!Array.isArray(pasties) || pasties.length > 1000) throw new TypeError();
  return {title: asText(title), pasties: pasties.map(pasty => {
    if (Object.getPrototypeOf(pasty) !== Object.prototype) throw new TypeError();
    return {title: asText(pasty.title), language: asText(pasty.language), code: asText(pasty.code)};
  })};
}

const insecure = "Encrypting and decrypting need a page that came over HTTPS: browsers have no cryptography without it.";
const find = id => document.getElementById(id);

function say(where, text) {
  where.textContent = text;
  where.hidden = !text;
  where.className = "problem";
}

// keyInLink returns the key, or null if the link has not all of it.
function keyInLink() {
  try {
    const key = fromBase64(location.hash.slice(1));
    return key.length === lengths.key ? key : null;
  } catch {
    return null;
  }
}

// What is behind the # where there is a password and no key: without it, a link was cut.
const withPassword = "password";

const noKey = "The link lacks a part of the key, which is behind the #. Ask for the whole link.";

// The page of an encrypted paste.
function showPaste(content) {
  find("heading").textContent = content.title || "Encrypted paste"; // not the document's title, which browsers keep and synchronise
  content.pasties.forEach((pasty, i) => {
    const section = find("pasty").content.cloneNode(true).firstElementChild;
    const name = pasty.title || "Snippet " + (i + 1);
    section.querySelector("h2").textContent = name;
    section.querySelector("span").textContent = pasty.language;
    section.querySelector("pre").setAttribute("aria-label", "Code of " + name);
    section.querySelector("code").textContent = pasty.code;
    const download = section.querySelector("a");
    download.href = URL.createObjectURL(new Blob([pasty.code], {type: "application/octet-stream"}));
    download.download = pasty.title || "snippet-" + (i + 1) + ".txt";
    find("main").append(section);
    offerCopy(section.querySelector(".copy"));
  });
}

async function openPaste(password) {
  const {version: format, salt, cipher} = find("cipher").dataset;
  const problem = find("decrypted");
  let all, text, content;
  say(problem, "");
  if (!crypto.subtle) return say(problem, insecure);
  if (format !== String(version)) {
    return say(problem, "This paste has format " + format + ", which is newer than this page. Reload it, or tell the operator.");
  }
  try {
    all = fromBase64(cipher);
  } catch {
    all = new Uint8Array();
  }
  if (all.length <= lengths.nonce + lengths.tag) return say(problem, "The paste was cut: there is nothing left to decrypt.");
  find("unlock").hidden = !salt;
  if (salt && password === undefined) return find("password").focus();
  const secret = salt ? password : keyInLink();
  if (!secret) return say(problem, noKey);
  say(problem, "Decrypting…");
  try {
    text = await decrypt(all, secret, salt);
  } catch {
    return say(problem, salt ? "This is not the password of the paste, or the paste was changed or cut." :
      "The key in the link is not that of the paste, or the paste was changed or cut.");
  }
  find("unlock").hidden = true;
  for (const shown of document.querySelectorAll("section.pasty")) shown.remove();
  try {
    content = contentOf(text);
  } catch {
    return say(problem, "The paste was decrypted, but what it holds is not a paste. The program that made it may have a fault.");
  }
  say(problem, "");
  showPaste(content);
}

// withLink acts on the key in the link, now and whenever another is put there.
function withLink(act) {
  let link = location.hash;
  addEventListener("hashchange", () => {
    if (location.hash === "#main") return history.replaceState(null, "", link); // it is not the key
    link = location.hash;
    act();
  });
  act();
}

if (find("cipher")) {
  find("unlock").addEventListener("submit", event => {
    event.preventDefault();
    openPaste(find("password").value);
  });
  withLink(() => openPaste());
}

// The question before one that burns: it is not asked where the answer could not be read.
const noWay = noKey + " If the paste has a password, put #" + withPassword + " behind the link.";

if (find("open")) {
  withLink(() => {
    const problem = !crypto.subtle ? insecure : keyInLink() || location.hash === "#" + withPassword ? "" : noWay;
    say(find("decrypted"), problem);
    find("open").hidden = problem !== "";
    find("open").action = find("open").getAttribute("action").replace(/#.*/, "") + location.hash;
  });
}

// The form. Snippets are added and removed here: nothing is sent until it is known whether to encrypt it.
function countSnippets(form) {
  const all = form.querySelectorAll(".snippet");
  all.forEach((snippet, i) => {
    const number = String(i + 1);
    snippet.querySelector("legend").textContent = "Snippet " + number;
    for (const field of snippet.querySelectorAll("[id]")) field.id = field.id.replace(/\d+/, number);
    for (const label of snippet.querySelectorAll("label")) label.htmlFor = label.htmlFor.replace(/\d+/, number);
    let button = snippet.querySelector("button");
    if (all.length === 1 && button) button.remove();
    if (all.length > 1 && !button) {
      button = document.createElement("button");
      button.name = "do";
      button.textContent = "Remove";
      snippet.querySelector(".fields").append(button);
    }
    if (button) {
      button.value = "remove-" + number;
      button.setAttribute("aria-label", "Remove snippet " + number);
    }
  });
}

function addSnippet(form) {
  const last = Array.from(form.querySelectorAll(".snippet")).pop();
  const added = last.cloneNode(true);
  for (const wrong of added.querySelectorAll(".problem")) wrong.remove();
  for (const field of added.querySelectorAll("input, select, textarea")) {
    for (const attribute of ["aria-invalid", "aria-describedby", "autofocus"]) field.removeAttribute(attribute);
    if (field.tagName !== "SELECT") field.value = "";
  }
  last.after(added);
  countSnippets(form);
  added.querySelector("[name=name]").focus();
}

// collect returns what is filled in. It fails with a sentence for its writer.
async function collect(form) {
  const pasties = [];
  for (const snippet of form.querySelectorAll(".snippet")) {
    const [title, language, code] = ["name", "language", "code"].map(name => snippet.querySelector("[name=" + name + "]").value);
    if (title || code) pasties.push({title, language: language === "Autodetect" ? "Plain Text" : language, code});
  }
  for (const file of find("files").files) {
    try {
      const code = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(await file.arrayBuffer());
      pasties.push({title: file.name, language: "Plain Text", code});
    } catch {
      throw new Error("Not text in UTF-8: " + file.name + ". Choose other files.");
    }
  }
  if (!pasties.length) throw new Error("There is nothing to encrypt yet.");
  if (form.elements.visibility?.value === "public") throw new Error("An encrypted paste cannot be public.");
  if (form.elements.tags && form.elements.tags.value.trim()) {
    throw new Error("Tags would not be encrypted. Empty that field.");
  }
  return {title: form.elements.title.value, pasties};
}

// create sends the paste and returns its link.
async function create(form) {
  const content = await collect(form);
  const password = find("password").value;
  const salt = password && toBase64(random(lengths.salt));
  const secret = password || random(lengths.key);
  const sent = new FormData();
  for (const name of ["expires", "visibility", "signed-in"]) if (form.elements[name]) sent.set(name, form.elements[name].value);
  for (const [name, value] of Object.entries({encrypt: "on", version, salt})) sent.set(name, value);
  sent.set("cipher", await encrypt(content, secret, salt));
  const headers = {Accept: "text/html"};
  const answer = await fetch(form.getAttribute("action"), {method: "POST", body: sent, headers}).catch(() => null);
  if (!answer) throw new Error("The server does not answer. Nothing is lost: send it again.");
  if (answer.status !== 201) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const reason = page.querySelector("main .problem:not([hidden])") || page.querySelector("main p");
    const again = page.querySelector("form.form"); // the form that would be sent again without a script
    if (again && form.elements["signed-in"] && !again.elements["signed-in"]) form.elements["signed-in"].value = "";
    throw new Error(reason ? reason.textContent : "The server has refused it, with the status " + answer.status + ". Nothing is lost.");
  }
  return answer.headers.get("Location") + "#" + (password ? withPassword : toBase64(secret));
}

if (find("encrypt")) {
  const box = find("encrypt");
  const toggle = () => {
    find("encryption-password").hidden = !box.checked;
    find("clear").checked = !box.checked;
  };
  find("unencrypted").hidden = true;
  find("clear").required = false; // from here on, what is to be encrypted is
  find("encryption").hidden = false;
  box.disabled = !crypto.subtle;
  if (!crypto.subtle) find("encryption-hint").textContent = insecure;
  box.addEventListener("change", toggle);
  addEventListener("pageshow", toggle);
  box.form.addEventListener("submit", async event => {
    const form = box.form;
    const does = event.submitter ? event.submitter.value : "save";
    if (does === "save" && !box.checked) return;
    event.preventDefault();
    if (does === "add") {
      const full = form.querySelectorAll(".snippet").length >= 100;
      say(find("encryption-problem"), full ? "There is no room for more than 100." : "");
      return full || addSnippet(form);
    }
    if (does !== "save") {
      event.submitter.closest(".snippet").remove();
      countSnippets(form);
      return form.querySelector("[value=add]").focus();
    }
    const buttons = form.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    say(find("encryption-problem"), "");
    try {
      location.assign(await create(form));
    } catch (problem) {
      say(find("encryption-problem"), problem.message);
      for (const button of buttons) button.disabled = false;
    }
  });
}
