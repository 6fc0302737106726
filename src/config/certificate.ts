// The TLS certificate and its key: read and validated before the server listens.
import type { SecureContextOptions } from "node:tls";
import { errorMessage } from "../base/system-error.ts";
import { readTextFile } from "../base/text-file.ts";
import { ConfigError, type RawSettings, type SettingName } from "./settings.ts";

/** A certificate chain and its key, in PEM. */
export interface Certificate {
  /** The path of the chain, for messages. */
  readonly file: string;
  readonly cert: string;
  readonly key: string;
}

/** Reads both; undefined if neither is set. Throws a ConfigError that names the setting and the file. */
export function readCertificate(raw: RawSettings): Certificate | undefined {
  const [cert, key] = [raw["tls-cert"], raw["tls-key"]];
  if (cert === "" && key === "") return undefined;
  if (cert === "" || key === "") throw new ConfigError("tls-cert, tls-key: set both or neither.");
  const tls = { file: cert, cert: readPem("tls-cert", cert), key: readPem("tls-key", key) };
  checkTls("tls-cert", `${cert} holds no certificate`, { cert: tls.cert });
  checkTls("tls-key", `${key} holds no key`, { key: tls.key });
  checkTls("tls-key", `${key} is not the key of ${cert}`, { cert: tls.cert, key: tls.key });
  return tls;
}

/** The maximum size of a bundle of certificate authorities, in bytes. */
const maxBundleBytes = 1024 * 1024;

/** Reads the additional trusted certificate authorities, in PEM; undefined for none. Throws a ConfigError. */
export function readIssuerAuthorities(raw: RawSettings): string | undefined {
  const file = raw["issuer-ca"];
  if (file === "") return undefined;
  const pem = readPem("issuer-ca", file);
  if (Buffer.byteLength(pem) > maxBundleBytes) throw new ConfigError(`issuer-ca: ${file} is larger than 1 MiB.`);
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new ConfigError(`issuer-ca: ${file} holds no certificate.`);
  for (const ca of found) checkTls("issuer-ca", `${file} holds a certificate that cannot be read`, { ca });
  return found.join("\n");
}

function checkTls(name: SettingName, problem: string, options: SecureContextOptions): void {
  // Node treats an empty text as absent.
  if (Object.values(options).includes("")) throw new ConfigError(`${name}: ${problem} (it is empty).`);
  try {
    process.getBuiltinModule("node:tls").createSecureContext(options);
  } catch (error) {
    throw new ConfigError(`${name}: ${problem} (${error instanceof Error ? error.message : error}).`);
  }
}

function readPem(name: SettingName, file: string): string {
  try {
    return readTextFile(file);
  } catch (error) {
    throw new ConfigError(`${name}: ${file} cannot be read: ${errorMessage(error, file)}.`);
  }
}
