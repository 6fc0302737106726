/**
 * The version of the evaluator: of `advisories/queries/evaluate.ts`, and of the keys of packages. Increment it when the same advisories
 * and packages give other findings; all packages are then compared again.
 */
export const evaluatorVersion = 1;
