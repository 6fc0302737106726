// Releases of distributions, which every source writes in its own way: "12", "debian-12.5", "v3.18", "22.04:LTS", "jammy".

/**
 * Whether two texts may name the same release. Only numbers are compared with numbers and names with names: nothing tells that
 * "jammy" is 22.04, and a query that finds too much hides nothing. Of "8" and "8.6" one includes the other.
 */
export function mayBeSameRelease(a: string, b: string): boolean {
  const [left, right] = [partsOf(a), partsOf(b)];
  if (left.numbers.length > 0 && right.numbers.length > 0) {
    return left.numbers.every((number, i) => i >= right.numbers.length || number === right.numbers[i]);
  }
  const areNames = left.numbers.length === 0 && right.numbers.length === 0;
  return !areNames || left.name === right.name || left.name === "" || right.name === "";
}

function partsOf(release: string) {
  const lower = release.toLowerCase();
  const [numbers = ""] = /[0-9]+(?:[.][0-9]+)*/.exec(lower) ?? [];
  return { numbers: numbers === "" ? [] : numbers.split(".").map(Number), name: lower };
}
