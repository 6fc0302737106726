// Violations name the fields that the caller of version 1 wrote.
import { ApiError, Code, type FieldViolation, fieldViolationsOf, invalidArgument } from "../aip/errors.ts";

/** Says a violation of today's method in the names of version 1. */
export type Rename = (violation: FieldViolation) => FieldViolation;

/** Makes a renaming from pairs of names: today's, and that of version 1. */
export function renamer(pairs: Iterable<readonly [now: string, v1: string]>): Rename {
  const renamed = new Map(pairs);
  return ({ field, description }) => {
    const path = field.replace(/[A-Za-z_]\w*/g, (name) => renamed.get(name) ?? name);
    // "name is required" names the field once more. Elsewhere a word with "_" is a name, and any other word may be just that.
    const told = description.replace(/^\w+(?= is required$)|[A-Za-z]+_\w+/g, (name) => renamed.get(name) ?? name);
    return { field: path, description: told };
  };
}

/** Runs a method of today, and renames what it finds wrong. */
export async function renaming<T>(rename: Rename, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const violations = error instanceof ApiError && error.code === Code.INVALID_ARGUMENT && fieldViolationsOf(error);
    throw violations ? invalidArgument(violations.map(rename)) : error;
  }
}
