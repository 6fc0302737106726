import { type FieldViolation, invalidArgument, maxViolations } from "./errors.ts";

/** Collects the violations of a request, so all of them are reported at once. */
export interface Violations {
  /** Adds a violation. Throws all of them as INVALID_ARGUMENT when `maxViolations` is reached. */
  add(field: string, description: string): void;
  /** Adds each of them, like `add`. */
  addAll(violations: readonly FieldViolation[]): void;
  /** Throws INVALID_ARGUMENT if there are violations. */
  throwIfAny(): void;
}

/** Creates an empty collection. */
export function newViolations(): Violations {
  const found: FieldViolation[] = [];
  const throwIfAny = () => {
    if (found.length > 0) throw invalidArgument(found);
  };
  const add = (field: string, description: string) => {
    found.push({ field, description });
    if (found.length >= maxViolations) throwIfAny();
  };
  return {
    add,
    addAll(violations) {
      for (const { field, description } of violations) add(field, description);
    },
    throwIfAny,
  };
}

/**
 * Returns a violation for each empty text, by field: for fields that the published annotations do not mark as required.
 */
export function missingTexts(fields: Readonly<Record<string, string>>): FieldViolation[] {
  const missing = Object.entries(fields).filter(([, text]) => text === "");
  return missing.map(([field]) => ({ field, description: `${field} is required` }));
}
