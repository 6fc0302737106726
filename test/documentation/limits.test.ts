// Compares docs/reference/limits.md with every limit that a file named limits.ts exports, and with those of the database.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

const sizes: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };
const times: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  days: 86_400_000,
};

/** The rows of the page: the name of the limit, and its value as a number. */
const rows = readFileSync("docs/reference/limits.md", "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, , value, name] = line.split("|").map((cell) => cell.trim());
    return name?.startsWith("`") ? [{ name: name.replaceAll("`", ""), value: parseValue(value!) }] : [];
  });

/** Reads `4 MiB`, `30 s`, `10,000` or `200 a second`; undefined for `off` and for several values. */
function parseValue(text: string): number | undefined {
  const found = /^([\d,.]+)(?: ([KMG]i)B?(?: characters)?| (ms|s|min|h|days)| [a-zA-Z ]+)?$/.exec(text);
  if (!found) return undefined;
  const [, digits, size, time] = found;
  return Number(digits!.replaceAll(",", "")) * (sizes[size ?? ""] ?? times[time ?? ""] ?? 1);
}

type Limits = Readonly<Record<string, unknown>>;

/** Returns the limits of an object, those of objects in it by their path. */
function flatten(limits: Limits, prefix = ""): [name: string, value: unknown][] {
  return Object.entries(limits).flatMap(([name, value]) =>
    typeof value === "object" && value !== null
      ? flatten(value as Limits, `${prefix}${name}.`)
      : [[prefix + name, value] as [string, unknown]],
  );
}

const files = [...globSync("src/**/limits.ts"), "src/storage/engine/dialect.ts"];
/** Variants of other limits: the page has their differences in one row each. */
const variants = ["metricsLimits", "commandDatabaseLimits"];

describe("docs/reference/limits.md", () => {
  for (const file of files) {
    it(`docs/reference/limits.md has the limits of ${file} with their values`, async () => {
      const module: Limits = await import(path.resolve(file));
      const exported = Object.entries(module).filter(
        ([name, value]) => !variants.includes(name) && typeof value !== "function",
      );
      // The limits of an exported object have the names of its members.
      const limits = exported.flatMap(([name, value]) =>
        flatten(typeof value === "object" ? (value as Limits) : { [name]: value }),
      );
      for (const [limit, value] of limits.filter(([, value]) => typeof value !== "string")) {
        const documented = rows.filter((row) => row.name === limit).map((row) => row.value);
        assert.ok(
          documented.includes(value as number | undefined),
          `${limit} is ${value}; on the page: ${documented.join(", ")}`,
        );
      }
    });
  }
});
