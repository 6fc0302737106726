// The entries of a map while they are typed.

/** An entry. Its name may be empty, or there twice, while it is typed. */
export type Pair = readonly [name: string, value: string];

/** Returns the entries of a map. */
export function pairsOf(map: Readonly<Record<string, string>>): readonly Pair[] {
  return Object.entries(map);
}

/** Returns the map. Rows that are still empty are left out. */
export function mapOf(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(
    pairs.filter(([name, value]) => name.trim() !== "" || value !== "").map(([name, value]) => [name.trim(), value]),
  );
}

/** The entries as a text to compare. Different entries have different texts. */
export function pairsText(pairs: readonly Pair[]): string {
  return Object.entries(mapOf(pairs))
    .map(([name, value]) => `${quoted(name)}=${quoted(value)}`)
    .sort()
    .join(", ");
}

/** Several values as a text to compare; empty if all of them are. Different values have different texts. */
export function valuesText(values: readonly string[]): string {
  return values.every((value) => value === "") ? "" : values.map(quoted).join(", ");
}

/** Quotes a value that could be read as none or as several. */
function quoted(value: string): string {
  return value === "" || /["=,\s]/u.test(value) ? JSON.stringify(value) : value;
}
