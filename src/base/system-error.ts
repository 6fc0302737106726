// Errors of system calls and of TLS connections.

/** Returns whether an error has this system error code, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * Returns the message of an error. Node appends the path of a failed file system call; it is removed if it is `file`, which the
 * caller names itself. Another path, such as a parent directory, stays.
 */
export function errorMessage(error: unknown, file?: string): string {
  if (!(error instanceof Error)) return String(error);
  const { message, path, syscall }: NodeJS.ErrnoException = error;
  return path !== undefined && path === file ? message.replace(new RegExp(`, ${syscall} '.*$`, "s"), "") : message;
}

// https://nodejs.org/api/tls.html#x509-certificate-error-codes
const certificateProblems: readonly (readonly [code: RegExp, problem: string])[] = [
  [/^CERT_HAS_EXPIRED$/, "it has expired"],
  [/^CERT_NOT_YET_VALID$/, "it is not valid yet"],
  [/^ERR_TLS_CERT_ALTNAME_\w+$/, "it is for another host"],
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, "it is self-signed"],
  [/^SELF_SIGNED_CERT_IN_CHAIN$/, "the authority that signed it is not trusted"],
  [/^UNABLE_TO_(GET|VERIFY)_\w+$/, "the authority that signed it is not trusted, or its chain is incomplete"],
  [/^CERT_\w+$|^INVALID_(CA|PURPOSE)$|^UNABLE_TO_DECODE_\w+$/, "it is not valid"],
];

/** Returns why the certificate of the peer is not trusted, with the code of OpenSSL; undefined for any other error. */
export function certificateProblem(error: unknown): string | undefined {
  const { code: said } = (error ?? {}) as { readonly code?: unknown };
  const code = typeof said === "string" ? said : "";
  const [, problem] = certificateProblems.find(([pattern]) => pattern.test(code)) ?? [];
  return problem === undefined ? undefined : `${problem} (${code})`;
}
