// The keys of a recipient: the public one encrypts the secrets of an export, and the private one decrypts them during an import.
import { createPrivateKey, createPublicKey, type KeyObject, type webcrypto } from "node:crypto";
import { statSync } from "node:fs";
import { clientSecretType } from "../../services/organization-export/recipient-key.ts";
import { wrongUsage } from "../failure.ts";
import { readFile } from "../input.ts";

type JsonWebKey = webcrypto.JsonWebKey;

/** The content of an encrypted client secret. */
export interface ClientSecret {
  readonly identityProvider: string;
  readonly issuer: string;
  readonly clientSecret: string;
}

/** Decrypts an encrypted client secret. Throws an Error with what is wrong. */
export type Decrypt = (jwe: string) => Promise<ClientSecret>;

const algorithms = {
  keyManagementAlgorithms: ["RSA-OAEP-256", "ECDH-ES+A256KW"],
  contentEncryptionAlgorithms: ["A256GCM"],
};

/** Reads the public key of `--recipient`, a PEM or JWK file. Returns its PEM. */
export function readRecipient(file: string): string {
  const text = readFile(file, "--recipient");
  const jwk = jwkIn("--recipient", file, text);
  if (text.includes("PRIVATE KEY") || jwk?.d !== undefined)
    throw wrongUsage(`--recipient: ${file} has a private key; give the public key, and keep the private one secret`);
  const key = parse("--recipient", file, "a public key", () =>
    createPublicKey(jwk ? { key: jwk, format: "jwk" } : { key: text, format: "pem" }),
  );
  return key.export({ type: "spki", format: "pem" }).toString();
}

/** Reads the private key of `--recipient-key`, a PEM or JWK file that only its owner can read. */
export function readRecipientKey(file: string): Decrypt {
  const text = readFile(file, "--recipient-key");
  // Security case C2.
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
    throw wrongUsage(`--recipient-key: ${file} can be read by others; set its mode to 0600`);
  if (text.includes("ENCRYPTED"))
    throw wrongUsage(`--recipient-key: ${file} is protected with a passphrase; give the decrypted key`);
  const jwk = jwkIn("--recipient-key", file, text);
  const key = parse("--recipient-key", file, "a private key", () =>
    createPrivateKey(jwk ? { key: jwk, format: "jwk" } : { key: text, format: "pem" }),
  );
  return async (jwe) => contentOf(await decrypt(jwe, key));
}

async function decrypt(jwe: string, key: KeyObject): Promise<Uint8Array> {
  const { compactDecrypt } = await import("jose");
  const { plaintext, protectedHeader } = await compactDecrypt(jwe, key, algorithms).catch(() => {
    throw new Error("does not decrypt with the key of --recipient-key");
  });
  if (protectedHeader.typ !== clientSecretType) throw new Error(`must have the type ${clientSecretType}`);
  return plaintext;
}

function contentOf(plaintext: Uint8Array): ClientSecret {
  const { identityProvider, issuer, clientSecret } = JSON.parse(Buffer.from(plaintext).toString()) as ClientSecret;
  if ([identityProvider, issuer, clientSecret].every((text) => typeof text === "string"))
    return { identityProvider, issuer, clientSecret };
  throw new Error("has no client secret");
}

function jwkIn(flag: string, file: string, text: string): JsonWebKey | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  return parse(flag, file, "a JSON Web Key", () => JSON.parse(text) as JsonWebKey);
}

function parse<T>(flag: string, file: string, what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw wrongUsage(`${flag}: ${file} does not hold ${what} in PEM or as a JSON Web Key`);
  }
}
