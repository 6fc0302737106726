// Failures of a command: a message, a hint and an exit code.
import { didYouMean } from "../base/similar.ts";
import { printableLines } from "./escape.ts";

/** The reason of a failure by the certificate of a server: waiting does not mend it. */
export const untrustedCertificate = "UNTRUSTED_CERTIFICATE";

/** Optional parts of a failure. */
export interface FailureOptions {
  readonly hint?: string;
  readonly exitCode?: 1 | 2;
  readonly status?: string;
  readonly reason?: string;
}

/** A command that failed. The message says what is wrong; the hint says what to do. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly exitCode: 1 | 2;
  readonly hint: string;
  /** The code and reason of the server's error, such as NotFound and RESOURCE_NOT_EMPTY; empty without one. */
  readonly status: string;
  readonly reason: string;

  constructor(message: string, { hint = "", exitCode = 1, status = "", reason = "" }: FailureOptions = {}) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
    this.status = status;
    this.reason = reason;
  }

  /** Returns the failure with some parts replaced. */
  with({ message = this.message, ...changes }: FailureOptions & { readonly message?: string }): CommandFailure {
    const { hint, exitCode, status, reason } = this;
    return new CommandFailure(message, { hint, exitCode, status, reason, ...changes });
  }
}

/** Returns a failure by wrong usage: exit code 2. */
export function wrongUsage(message: string, hint = ""): CommandFailure {
  return new CommandFailure(message, { hint, exitCode: 2 });
}

/** Returns a wrong usage by an unknown value. The hint suggests similar known ones before it says what all are. */
export function unknownValue(message: string, value: string, known: readonly string[], all: string): CommandFailure {
  return wrongUsage(message, suggestingHint(value, known, all));
}

/** Returns the hint, preceded by the known values that are most like a value. */
export function suggestingHint(value: string, known: readonly string[], hint: string): string {
  const suggestion = didYouMean(value, known);
  return suggestion === "" ? hint : `${suggestion[0]!.toUpperCase()}${suggestion.slice(1)}\n${hint}`;
}

/** Returns the text for standard error. */
export function failureText({ message, hint }: CommandFailure): string {
  return printableLines(
    hint === "" ? `gatehouse: ${message}` : `gatehouse: ${message}\n  ${hint.replaceAll("\n", "\n  ")}`,
  );
}
