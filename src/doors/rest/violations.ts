import { type FieldViolation, invalidArgument, maximumViolations } from "../../aip/errors.ts";

/** What is wrong with one value; whoever knows the field that the value is for makes a violation of it. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
}

/** Gathers violations, so that a caller sees all of them at once. */
export interface Violations {
  /** Adds one; throws them all as INVALID_ARGUMENT as soon as there are as many as an error names. */
  add(field: string, description: string): void;
  /** Runs `read`, and makes a violation of the field if it throws a Mismatch. */
  guard(field: string, read: () => void): void;
  /** Throws INVALID_ARGUMENT if there are any. */
  check(): void;
}

/** An empty collection. */
export function gatherViolations(): Violations {
  const found: FieldViolation[] = [];
  const check = () => {
    if (found.length > 0) throw invalidArgument(found);
  };
  const add = (field: string, description: string) => {
    found.push({ field, description });
    if (found.length >= maximumViolations) check();
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
