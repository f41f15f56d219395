// Forms that create or use a passkey. The server says what to ask the browser, and gets the answer with the form.
import {say} from "./dom";

interface Asked {
  ceremony: string;
  options: PublicKeyCredentialCreationOptionsJSON & PublicKeyCredentialRequestOptionsJSON;
  problem?: string;
}

/** ask returns the server's options for the browser, or undefined if the user must sign in first. */
async function ask(form: HTMLFormElement): Promise<Asked | undefined> {
  const answer = await fetch(form.action, {method: "POST", body: new URLSearchParams(new FormData(form) as any)});
  if (answer.redirected) {
    location.assign(answer.url);
    return;
  }
  if (answer.headers.get("Content-Type")?.startsWith("application/json")) return await answer.json();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  throw new Error(page.querySelector("main p")?.textContent ?? "The server gave an unexpected answer. Try again.");
}

async function answerOf(form: HTMLFormElement, {options}: Asked): Promise<PublicKeyCredential> {
  const credential = form.dataset.passkey === "make"
    ? await navigator.credentials.create({publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options)})
    : await navigator.credentials.get({publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options)});
  return credential as PublicKeyCredential;
}

function explain(error: unknown): string {
  switch (error instanceof Error ? error.name : "") {
    case "InvalidStateError": return "This device already has a passkey for this account.";
    case "NotAllowedError": return "No passkey was chosen. Try again.";
  }
  return error instanceof Error ? error.message : String(error);
}

function add(form: HTMLFormElement, name: string, value: string): void {
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = name;
  field.value = value;
  form.append(field);
}

async function send(form: HTMLFormElement): Promise<void> {
  const problem = form.querySelector<HTMLElement>("[role=alert]")!;
  const button = form.querySelector("button")!;
  say(problem, "");
  button.disabled = true;
  try {
    const asked = await ask(form);
    if (!asked) return;
    if (asked.problem) throw new Error(asked.problem);
    const answer = await answerOf(form, asked);
    add(form, "ceremony", asked.ceremony);
    add(form, "answer", JSON.stringify(answer.toJSON()));
    form.submit();
  } catch (error) {
    say(problem, explain(error));
    button.disabled = false;
  }
}

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-passkey]")) {
  form.hidden = false;
  form.addEventListener("submit", event => {
    event.preventDefault();
    if ("PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential) void send(form);
    else say(form.querySelector<HTMLElement>("[role=alert]")!, "This browser does not support passkeys. Use a newer one.");
  });
}
