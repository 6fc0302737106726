// Certificates that openssl makes, for any time, name and use.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** The contents of a certificate. */
export interface CertificateRequest {
  /** Its subject alternative name, in openssl's form; localhost when absent. */
  readonly names?: string;
  /** Its validity in milliseconds since the epoch; from yesterday until tomorrow when absent. */
  readonly from?: number;
  readonly to?: number;
  /** Its extended key usage, in openssl's form; none when absent. */
  readonly use?: string;
  readonly keyType?: "ec" | "rsa";
}

/** A self-signed certificate and its key, PEM. */
export interface MadeCertificate {
  readonly cert: string;
  readonly key: string;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Makes a certificate. */
export function makeCertificate({ names = "DNS:localhost", from, to, use, keyType = "ec" }: CertificateRequest = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-openssl-"));
  const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const keyOptions = keyType === "ec" ? ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"] : ["rsa:2048"];
  const now = Date.now();
  try {
    writeFileSync(path.join(folder, "index.txt"), "");
    writeFileSync(path.join(folder, "serial"), `${now.toString(16).padStart(16, "0")}\n`);
    writeFileSync(path.join(folder, "ca.cnf"), configuration(names, use));
    openssl("req", "-newkey", ...keyOptions, "-nodes", "-subj", "/CN=test", "-keyout", "key", "-out", "request");
    const times = ["-startdate", timeOf(from ?? now - dayMs), "-enddate", timeOf(to ?? now + dayMs)];
    const signing = ["-batch", "-config", "ca.cnf", "-selfsign", "-keyfile", "key", "-notext", ...times];
    openssl("ca", ...signing, "-in", "request", "-out", "certificate");
    const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
    return { cert: read("certificate"), key: read("key") } satisfies MadeCertificate;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function configuration(names: string, use: string | undefined): string {
  const extensions = [`subjectAltName=${names}`, ...(use === undefined ? [] : [`extendedKeyUsage=${use}`])];
  return [
    "[ca]",
    "default_ca=test",
    "[test]",
    "database=index.txt",
    "serial=serial",
    "new_certs_dir=.",
    "default_md=sha256",
    "policy=any",
    "x509_extensions=extensions",
    "[any]",
    "commonName=supplied",
    "[extensions]",
    ...extensions,
    "",
  ].join("\n");
}

/** ASN.1 GeneralizedTime, in seconds. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
}
