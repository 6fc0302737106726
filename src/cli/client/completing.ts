// What completion offers for flags and arguments whose values are only known to a server.
import type { Argument, Option } from "commander";
import type { Session } from "./session.ts";

/** One that may be meant, and what says which it is. */
export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** Finds what may be meant by the beginning of a value. */
export type Completer = (session: Session, beginning: string) => Promise<readonly Candidate[]>;

const completers = new WeakMap<Option | Argument, Completer>();

/** Gives a flag or an argument a completer. */
export function completing<T extends Option | Argument>(target: T, completer: Completer): T {
  completers.set(target, completer);
  return target;
}

/** The completer of a flag or an argument. */
export function completerOf(target: Option | Argument): Completer | undefined {
  return completers.get(target);
}
