// The certificate of the port: a reload replaces it. Problems for which clients reject it are named.
import type { Certificate } from "../config/certificate.ts";
import { type CertificateProblem, certificateProblems } from "../config/certificate-problems.ts";
import { ConfigError } from "../config/settings.ts";
import type { ServerContext } from "./server-context.ts";

/** The certificate that the port uses. */
export interface PortCertificate {
  /** Returns the certificate; undefined without TLS. */
  current(): Certificate | undefined;
  /**
   * Replaces the certificate, by `apply`. Throws a ConfigError, and keeps the one in use, if clients would reject the new one for a
   * reason that the one in use does not have.
   */
  replace(next: Certificate, apply: (next: Certificate) => void): void;
}

/**
 * Opens the certificate of the configuration, and logs a warning for its problems. They do not end the start: behind a proxy the host may
 * be another one, and a clock may be wrong until it is synchronized.
 */
export function openPortCertificate({ config, clock, log, group }: ServerContext): PortCertificate {
  const host = new URL(config.baseUrl).hostname;
  const problemsOf = ({ cert }: Certificate) => certificateProblems(cert, host, clock());
  const warn = (problems: readonly CertificateProblem[], { file }: Certificate) => {
    // Of several workers, one warns.
    if (problems.length === 0 || group?.isWriter === false) return;
    log.warn(
      { event: "certificate_problem", file, problems: problems.map(({ text }) => text) },
      "clients may reject the certificate of the port",
    );
  };
  let current = config.tls;
  if (current) warn(problemsOf(current), current);
  return {
    current: () => current,
    replace(next, apply) {
      const problems = problemsOf(next);
      const tolerated = new Set(current && problemsOf(current).map(({ kind }) => kind));
      const found = problems.find(({ kind }) => !tolerated.has(kind));
      if (found) throw new ConfigError(`tls-cert: ${next.file}: ${found.text}.`);
      apply(next);
      current = next;
      warn(problems, next);
    },
  };
}
