// Reads encrypted pastes as JSON, each with its key or password, and prints what they hold. It is written from docs/encryption.md alone.
import {readFileSync} from "node:fs";
import {webcrypto} from "node:crypto";

const bytes = text => Buffer.from(text, "base64url");
const opened = [];
for (const {key, password, version, salt, cipher} of JSON.parse(readFileSync(0, "utf8"))) {
  if (version !== 1) throw new Error(`version ${version}`);
  let raw = bytes(key ?? "");
  let about = "gluepot 1 AES-256-GCM";
  if (password) {
    const material = await webcrypto.subtle.importKey("raw", Buffer.from(password, "utf8"), "PBKDF2", false, ["deriveBits"]);
    raw = await webcrypto.subtle.deriveBits({name: "PBKDF2", hash: "SHA-256", iterations: 600000, salt: bytes(salt)}, material, 256);
    about += ` PBKDF2-SHA-256 600000 ${salt}`;
  }
  const imported = await webcrypto.subtle.importKey("raw", raw, "AES-GCM", false, ["decrypt"]);
  const all = bytes(cipher);
  const text = await webcrypto.subtle.decrypt({name: "AES-GCM", iv: all.subarray(0, 12), additionalData: Buffer.from(about)}, imported,
    all.subarray(12));
  opened.push(Buffer.from(text).toString("utf8"));
}
console.log(JSON.stringify(opened));
