import type { ApiError } from "../aip/errors.ts";
import { UniqueViolation } from "../storage/engine/errors.ts";

/** Runs a write. What turns out to be there already is refused in the words of the resource. */
export async function mapUniqueViolation<T>(refusal: () => ApiError, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw error instanceof UniqueViolation ? refusal() : error;
  }
}
