import { type FieldViolation, invalidArgument } from "./errors.ts";

/** Gathers what is wrong with a request, so that all of it is reported at once. */
export interface Violations {
  add(field: string, description: string): void;
  addAll(violations: readonly FieldViolation[]): void;
  /** Throws INVALID_ARGUMENT when anything was added. */
  throwIfAny(): void;
}

export function newViolations(): Violations {
  const found: FieldViolation[] = [];
  return {
    add: (field, description) => void found.push({ field, description }),
    addAll: (violations) => void found.push(...violations),
    throwIfAny() {
      if (found.length > 0) throw invalidArgument(found);
    },
  };
}
