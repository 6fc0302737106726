// How a command fails: a sentence, what to try, and an exit code.

/** A command that could not do what it was asked. The message says what was missing; the hint, what to try. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly exitCode: 1 | 2;
  readonly hint: string;

  constructor(message: string, { hint = "", exitCode = 1 }: { hint?: string; exitCode?: 1 | 2 } = {}) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** It was called in a way that cannot work: exit code 2. */
export function wrongUsage(message: string, hint = ""): CommandFailure {
  return new CommandFailure(message, { hint, exitCode: 2 });
}

/** The whole text for standard error. */
export function failureText({ message, hint }: CommandFailure): string {
  return hint === "" ? `gatehouse: ${message}` : `gatehouse: ${message}\n  ${hint.replaceAll("\n", "\n  ")}`;
}
