// The reasons for which clients reject a certificate: its time, its names and its use.
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { clip } from "../base/clip.ts";

/** A reason for which clients reject a certificate. */
export interface CertificateProblem {
  readonly kind: "expired" | "not yet valid" | "another host" | "not for servers";
  /** The problem, as a text for users. */
  readonly text: string;
}

/** Returns the problems of a chain of certificates, in PEM, for clients that connect to `host` at the time `now`. */
export function certificateProblems(pem: string, host: string, now: number): CertificateProblem[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [pem];
  const chain = blocks.map((block) => new X509Certificate(block));
  const [own] = chain;
  return [...chain.flatMap((each, i) => timeProblems(each, i, now)), ...(own ? useProblems(own, host) : [])];
}

function timeProblems({ validFromDate, validToDate, subject }: X509Certificate, i: number, now: number) {
  const name = i === 0 ? "the certificate" : `certificate ${i + 1} of the chain (${oneLine(subject)})`;
  const problems: CertificateProblem[] = [];
  // RFC 5280 §4.1.2.5: both ends are included.
  if (now > validToDate.getTime())
    problems.push({ kind: "expired", text: `${name} expired at ${validToDate.toISOString()}` });
  if (now < validFromDate.getTime())
    problems.push({ kind: "not yet valid", text: `${name} is not valid before ${validFromDate.toISOString()}` });
  return problems;
}

function useProblems(certificate: X509Certificate, host: string): CertificateProblem[] {
  const problems: CertificateProblem[] = [];
  if (!isFor(certificate, host)) {
    const names = certificate.subjectAltName === undefined ? "no host" : clip(certificate.subjectAltName);
    problems.push({ kind: "another host", text: `the certificate is for ${names}, and base-url is at ${host}` });
  }
  if (!isForServers(certificate))
    problems.push({ kind: "not for servers", text: "the extended key usage of the certificate lacks serverAuth" });
  return problems;
}

/** RFC 9525 §6.3: clients no longer read the common name. */
function isFor(certificate: X509Certificate, host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  if (isIP(address) !== 0) return certificate.checkIP(address) !== undefined;
  return certificate.checkHost(host, { subject: "never" }) !== undefined;
}

const serverAuth = "1.3.6.1.5.5.7.3.1";
const anyUse = "2.5.29.37.0";

/** RFC 5280 §4.2.1.12: a certificate without the extension may be used for anything. */
function isForServers({ keyUsage }: X509Certificate): boolean {
  return keyUsage === undefined || keyUsage.includes(serverAuth) || keyUsage.includes(anyUse);
}

function oneLine(subject: string): string {
  return clip(subject.replaceAll("\n", ", "));
}
