// The contrasts of the console's colours (WCAG 2.2, 1.4.3 and 1.4.11), in both schemes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

const backs = ["canvas", "page", "surface", "selection"];
const tones = ["neutral", "good", "low", "medium", "high", "critical", "accent", "teal"];
const charts = ["sign-ins", "changes", "denied", "critical", "high", "low"];

/** Pairs of colours with the least contrast that they may have. */
const rules: readonly (readonly [front: string, backs: readonly string[], least: number])[] = [
  ["text", backs, 7],
  ["muted", backs, 4.5],
  ["accent", backs, 4.5],
  ["good", backs.slice(0, 3), 4.5],
  ["warning", backs.slice(0, 3), 4.5],
  ["danger", backs.slice(0, 3), 4.5],
  ["on-accent", ["accent", "accent-strong", "danger", "danger-strong"], 4.5],
  ["input-line", backs.slice(0, 3), 3],
  ...tones.map((tone) => [`${tone}-text`, [`${tone}-back`], 6] as const),
  ...charts.map((name) => [`chart-${name}`, ["page"], 2.9] as const),
];

describe("colours of the console", () => {
  const [, light = "", dark = ""] = readFileSync("console/src/tokens.css", "utf8").split(/:root[^{]*\{/);
  for (const [scheme, sheet] of Object.entries({ light, dark })) {
    const colours = new Map(
      [...sheet.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name!, value!]),
    );
    for (const [front, all, least] of rules)
      it(`${front} can be told from ${all.join(", ")} in the ${scheme} scheme`, () => {
        const low = all.filter((back) => contrast(colours.get(front)!, colours.get(back)!) < least);
        assert.deepEqual(low, []);
      });
  }
});

/** Returns the contrast ratio of two colours, 1 to 21. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** WCAG 2.2: relative luminance. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
