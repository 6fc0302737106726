// Versions of Python packages: https://packaging.python.org/specifications/version-specifiers/ (PEP 440), by pep440.
import * as pep440 from "@renovatebot/pep440";

/** Undefined if one of them is not a version of PEP 440, or has a number that the library would round. */
export function comparePypi(a: string, b: string): number | undefined {
  const [left, right] = [a.trim(), b.trim()];
  return isExact(left) && isExact(right) ? pep440.compare(left, right) : undefined;
}

function isExact(version: string): boolean {
  return !/[0-9]{16}/.test(version) && pep440.parse(version) !== null;
}
