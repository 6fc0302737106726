// How a command fails: a sentence, what to try, and an exit code.
import { printableLines } from "./escape.ts";

/** What else is known of a failure. */
export interface FailureOptions {
  readonly hint?: string;
  readonly exitCode?: 1 | 2;
  readonly status?: string;
  readonly reason?: string;
}

/** A command that could not do what it was asked. The message says what was missing; the hint, what to try. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly exitCode: 1 | 2;
  readonly hint: string;
  /** What the server answered, where it did: the name of its code and of its reason, such as NotFound and RESOURCE_NOT_EMPTY. */
  readonly status: string;
  readonly reason: string;

  constructor(message: string, { hint = "", exitCode = 1, status = "", reason = "" }: FailureOptions = {}) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
    this.status = status;
    this.reason = reason;
  }
}

/** It was called in a way that cannot work: exit code 2. */
export function wrongUsage(message: string, hint = ""): CommandFailure {
  return new CommandFailure(message, { hint, exitCode: 2 });
}

/** The whole text for standard error. */
export function failureText({ message, hint }: CommandFailure): string {
  return printableLines(
    hint === "" ? `gatehouse: ${message}` : `gatehouse: ${message}\n  ${hint.replaceAll("\n", "\n  ")}`,
  );
}
