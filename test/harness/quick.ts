// The part of a long test that `npm test` runs. The matrix runs the files that import this module again, with all of it.

/** The variable that `npm test` sets to 1. */
export const quickVariable = "GATEHOUSE_TEST_QUICK";

/** Whether a test is to run a part of its cases only: some random ones, or one of several that are alike. */
export const isQuick = process.env[quickVariable] === "1";

/** Returns the number of cases: `few` in `npm test`, otherwise `all`. */
export function casesOf(few: number, all: number): number {
  return isQuick ? few : all;
}
