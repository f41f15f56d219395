// The form's choice to encrypt in this browser.
import {Content, encrypt, insecure, lengths, random, toBase64, version, withPassword} from "./cipher";
import {find, say} from "./dom";
import {codeOf, fieldsOf, snippets} from "./snippets";

// collect returns what is filled in. It fails with a sentence for its writer.
function collect(form: HTMLFormElement): Content {
  const pasties = [];
  for (const snippet of snippets()) {
    const fields = fieldsOf(snippet);
    const {name, language} = fields;
    const code = codeOf(fields);
    const chosen = language.value.trim();
    const named = chosen.toLowerCase() === "autodetect" ? "" : chosen; // readers detect it
    if (name.value || code) pasties.push({title: name.value, language: named, code});
  }
  if (!pasties.length) throw new Error("There is nothing to encrypt yet.");
  const value = (name: string) => (form.elements.namedItem(name) as HTMLInputElement | null)?.value ?? "";
  if (value("visibility") === "public") throw new Error("An encrypted paste cannot be public.");
  if (value("tags").trim()) throw new Error("Tags are not encrypted. Clear that field.");
  return {title: value("title"), pasties};
}

// create sends the paste and returns its link.
async function create(form: HTMLFormElement): Promise<string> {
  const content = collect(form);
  const password = find<HTMLInputElement>("password").value;
  const salt = password && toBase64(random(lengths.salt));
  const secret = password || random(lengths.key);
  const sent = new FormData();
  for (const name of ["expires", "burn", "visibility", "signed-in"]) {
    const field = form.elements.namedItem(name) as HTMLInputElement | null;
    if (field && (field.type !== "checkbox" || field.checked)) sent.set(name, field.value);
  }
  for (const [name, value] of Object.entries({encrypt: "on", version, salt})) sent.set(name, String(value));
  sent.set("cipher", await encrypt(content, secret, salt));
  const headers = {Accept: "text/html"};
  const answer = await fetch(form.getAttribute("action")!, {method: "POST", body: sent, headers}).catch(() => null);
  if (!answer) throw new Error("The server does not answer. Nothing is lost: send it again.");
  if (answer.status !== 201) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const reason = page.querySelector("main .problem:not([hidden])") || page.querySelector("main p");
    const again = page.querySelector<HTMLFormElement>("form.form"); // the form that would be sent again without a script
    const signedIn = form.elements.namedItem("signed-in") as HTMLInputElement | null;
    if (again && signedIn && !again.elements.namedItem("signed-in")) signedIn.value = "";
    throw new Error(reason?.textContent || "The server refused the paste with status " + answer.status + ". Nothing is lost.");
  }
  return answer.headers.get("Location") + "#" + (typeof secret === "string" ? withPassword : toBase64(secret));
}

/** encrypts reports whether the form is to be encrypted. */
export const encrypts = () => (document.getElementById("encrypt") as HTMLInputElement | null)?.checked ?? false;

/** save encrypts and sends the form, and goes to the paste. It reports whether it was created. */
export async function save(form: HTMLFormElement): Promise<boolean> {
  const buttons = form.querySelectorAll("button");
  const disabled = Array.from(buttons, button => button.disabled);
  for (const button of buttons) button.disabled = true;
  say(find("encryption-problem"), "");
  try {
    location.assign(await create(form));
    return true;
  } catch (problem) {
    say(find("encryption-problem"), (problem as Error).message);
    buttons.forEach((button, i) => { button.disabled = disabled[i]!; });
    return false;
  }
}

export function begin(): void {
  const box = document.getElementById("encrypt") as HTMLInputElement | null;
  if (!box) return;
  const toggle = () => {
    find("encryption-password").hidden = !box.checked;
    find<HTMLInputElement>("clear").checked = !box.checked;
  };
  find("unencrypted").hidden = true;
  find<HTMLInputElement>("clear").required = false; // from here on, what is to be encrypted is
  find("encryption").hidden = false;
  box.disabled = !crypto.subtle;
  if (!crypto.subtle) find("encryption-hint").textContent = insecure;
  box.addEventListener("change", toggle);
  addEventListener("pageshow", toggle);
  toggle();
}
