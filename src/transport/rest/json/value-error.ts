import type { Violations } from "../../../aip/violations.ts";

/** What is wrong with one value; whoever knows the field that the value is for makes a violation of it. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
}

/** Runs `read`, and makes a violation of the field if it throws a Mismatch. */
export function guard(violations: Violations, field: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    violations.add(field, error.message);
  }
}
