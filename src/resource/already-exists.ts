import type { ApiError } from "../aip/errors.ts";
import { UniqueViolation } from "../storage/engine/errors.ts";

/** Runs a write. Throws `alreadyExists()` in place of a `UniqueViolation` of the database. */
export async function mapUniqueViolation<T>(alreadyExists: () => ApiError, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw error instanceof UniqueViolation ? alreadyExists() : error;
  }
}
