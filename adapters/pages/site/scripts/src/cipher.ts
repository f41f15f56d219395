// The format of encrypted pastes, which docs/encryption.md describes.

export const version = 1;
const rounds = 600000;
export const lengths = {nonce: 12, salt: 16, key: 32, tag: 16};
const utf8 = new TextEncoder();

/** The fragment of a link to a paste with a password. A link without a fragment has been cut off. */
export const withPassword = "password";

export const insecure =
  "Encryption needs HTTPS: browsers offer cryptography only to pages loaded over HTTPS. Open this page with https.";

export interface Pasty { title: string; language: string; code: string }
export interface Content { title: string; pasties: Pasty[] }
type Bytes = Uint8Array<ArrayBuffer>;

export const random = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));

export function toBase64(bytes: Bytes): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

/** fromBase64 fails if the text is not what toBase64 returns for the bytes, as other readers do. */
export function fromBase64(text: string): Bytes {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
  if (toBase64(bytes) !== text) throw new TypeError();
  return bytes;
}

// The version and the derivation of the key are authenticated with the ciphertext.
const header = (salt: string) =>
  utf8.encode("gluepot 1 AES-256-GCM" + (salt ? " PBKDF2-SHA-256 " + rounds + " " + salt : ""));
const algorithm = (nonce: Bytes, salt: string) => ({name: "AES-GCM", iv: nonce, additionalData: header(salt)});

// keyOf derives a key from a password if there is a salt, and otherwise imports the bytes.
async function keyOf(secret: string | Bytes, salt: string): Promise<CryptoKey> {
  if (typeof secret !== "string") {
    return crypto.subtle.importKey("raw", secret, "AES-GCM", false, ["encrypt", "decrypt"]);
  }
  const password = await crypto.subtle.importKey("raw", utf8.encode(secret), "PBKDF2", false, ["deriveKey"]);
  const derivation = {name: "PBKDF2", hash: "SHA-256", salt: fromBase64(salt), iterations: rounds};
  return crypto.subtle.deriveKey(derivation, password, {name: "AES-GCM", length: 256}, false, ["encrypt", "decrypt"]);
}

export async function encrypt(content: Content, secret: string | Bytes, salt: string): Promise<string> {
  const nonce = random(lengths.nonce);
  const text = utf8.encode(JSON.stringify(content));
  const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm(nonce, salt), await keyOf(secret, salt), text));
  const all = new Uint8Array(nonce.length + sealed.length);
  all.set(nonce);
  all.set(sealed, nonce.length);
  return toBase64(all);
}

/** decrypt returns the plaintext, which no server has checked. */
export async function decrypt(all: Bytes, secret: string | Bytes, salt: string): Promise<string> {
  const [nonce, sealed] = [all.subarray(0, lengths.nonce), all.subarray(lengths.nonce)];
  const text = await crypto.subtle.decrypt(algorithm(nonce, salt), await keyOf(secret, salt), sealed);
  return new TextDecoder().decode(text);
}
