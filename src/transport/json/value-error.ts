import type { Violations } from "../../aip/violations.ts";

/** The problem of one value. The caller, which knows the field, turns it into a violation. */
export class ValueError extends Error {
  override readonly name = "ValueError";
}

/** Runs `read`, and adds a violation of the field if it throws a ValueError. */
export function guard(violations: Violations, field: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    violations.add(field, error.message);
  }
}
