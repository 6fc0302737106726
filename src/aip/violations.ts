import { type FieldViolation, invalidArgument, maxViolations } from "./errors.ts";

/** Gathers what is wrong with a request, so that all of it is reported at once. */
export interface Violations {
  /** Adds one; throws them all as INVALID_ARGUMENT as soon as there are as many as an error names. */
  add(field: string, description: string): void;
  /** Adds each of them, as `add` does. */
  addAll(violations: readonly FieldViolation[]): void;
  /** Throws INVALID_ARGUMENT when anything was added. */
  throwIfAny(): void;
}

/** An empty collection. */
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

/** A violation for each of these texts that is empty, by field: for what the published annotations do not call required. */
export function missingTexts(fields: Readonly<Record<string, string>>): FieldViolation[] {
  const missing = Object.entries(fields).filter(([, text]) => text === "");
  return missing.map(([field]) => ({ field, description: `${field} is required` }));
}
