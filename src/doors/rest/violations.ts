import { type FieldViolation, invalidArgument } from "../../aip/errors.ts";

/** What is wrong with one value; whoever knows the field that the value is for makes a violation of it. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
}

/** Gathers violations, so that a caller sees all of them at once. */
export interface Violations {
  /** Adds one; throws them all as INVALID_ARGUMENT when there are 20, which keeps the answer to a hostile body small. */
  add(field: string, description: string): void;
  /** Runs `read`, and makes a violation of the field if it throws a Mismatch. */
  guard(field: string, read: () => void): void;
  /** Throws INVALID_ARGUMENT if there are any. */
  check(): void;
}

const maxViolations = 20;

/** An empty collection. */
export function gatherViolations(): Violations {
  const found: FieldViolation[] = [];
  const check = () => {
    if (found.length > 0) throw invalidArgument(found);
  };
  const add = (field: string, description: string) => {
    found.push({ field: clip(field), description });
    if (found.length >= maxViolations) check();
  };
  return { add, check, guard: (field, read) => guard(add, field, read) };
}

function guard(add: Violations["add"], field: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    add(field, error.message);
  }
}

/** Text of a caller, cut to what an error may repeat. */
export function clip(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}
