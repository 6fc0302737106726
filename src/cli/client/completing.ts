// Completion of flags and arguments whose values the server knows.
import type { Argument, Option } from "commander";
import type { Session } from "./session.ts";

/** A candidate and its description. */
export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** Returns the candidates for the beginning of a value. */
export type Completer = (session: Session, beginning: string) => Promise<readonly Candidate[]>;

const completers = new WeakMap<Option | Argument, Completer>();

/** Sets the completer of a flag or an argument. */
export function completing<T extends Option | Argument>(target: T, completer: Completer): T {
  completers.set(target, completer);
  return target;
}

/** Returns the completer of a flag or an argument. */
export function completerOf(target: Option | Argument): Completer | undefined {
  return completers.get(target);
}
