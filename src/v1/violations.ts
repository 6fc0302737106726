// Renames violations to the field names of version 1.
import { ApiError, Code, type FieldViolation, fieldViolationsOf, invalidArgument } from "../aip/errors.ts";

/** Renames the fields of a violation of a current method to those of version 1. */
export type Rename = (violation: FieldViolation) => FieldViolation;

/** Makes a renaming from pairs of current name and name of version 1. */
export function renamer(pairs: Iterable<readonly [current: string, v1: string]>): Rename {
  const renamed = new Map(pairs);
  return ({ field, description }) => {
    const path = field.replace(/[A-Za-z_]\w*/g, (name) => renamed.get(name) ?? name);
    // "name is required" repeats the field name. Elsewhere only words with "_" are certainly field names.
    const toV1Event = description.replace(/^\w+(?= is required$)|[A-Za-z]+_\w+/g, (name) => renamed.get(name) ?? name);
    return { field: path, description: toV1Event };
  };
}

/** Runs a current method, and renames the violations that it throws. */
export async function renaming<T>(rename: Rename, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const violations = error instanceof ApiError && error.code === Code.INVALID_ARGUMENT && fieldViolationsOf(error);
    throw violations ? invalidArgument(violations.map(rename)) : error;
  }
}
