// Reads encrypted pastes as JSON, each with its key or password, and prints the plaintexts. It is written from docs/encryption.md alone.
import {readFileSync} from "node:fs";
import {webcrypto} from "node:crypto";

const bytes = text => Buffer.from(text, "base64url");
const plaintexts = [];
for (const {key, password, version, salt, cipher} of JSON.parse(readFileSync(0, "utf8"))) {
  if (version !== 1) throw new Error(`version ${version}`);
  let rawKey = bytes(key ?? "");
  let additionalData = "gluepot 1 AES-256-GCM";
  if (password) {
    const material = await webcrypto.subtle.importKey("raw", Buffer.from(password, "utf8"), "PBKDF2", false, ["deriveBits"]);
    rawKey = await webcrypto.subtle.deriveBits({name: "PBKDF2", hash: "SHA-256", iterations: 600000, salt: bytes(salt)}, material, 256);
    additionalData += ` PBKDF2-SHA-256 600000 ${salt}`;
  }
  const cryptoKey = await webcrypto.subtle.importKey("raw", rawKey, "AES-GCM", false, ["decrypt"]);
  const data = bytes(cipher);
  const text = await webcrypto.subtle.decrypt({name: "AES-GCM", iv: data.subarray(0, 12), additionalData: Buffer.from(additionalData)}, cryptoKey,
    data.subarray(12));
  plaintexts.push(Buffer.from(text).toString("utf8"));
}
console.log(JSON.stringify(plaintexts));
