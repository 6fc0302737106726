import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Advisory } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { populateAdvisories } from "../advisory-population.ts";
import { newRandom } from "../random.ts";

const count = 30_000;
const advisories = [...populateAdvisories(newRandom("advisories"), count)];

/** Fails unless a number is within a tenth of another. */
function assertAbout(actual: number, wanted: number, what: string): void {
  assert.ok(Math.abs(actual - wanted) <= wanted / 10, `${what}: ${actual}, not about ${wanted}`);
}

const share = (holds: (advisory: Advisory) => boolean) => advisories.filter(holds).length / count;

describe("generated advisories", () => {
  it("are the same for the same seed", () => {
    const again = [...populateAdvisories(newRandom("advisories"), 100)];
    assert.deepEqual(again, advisories.slice(0, 100));
  });

  it("generated advisories have the requested number and unique ids", () => {
    assert.equal(advisories.length, count);
    assert.equal(new Set(advisories.map(({ advisoryId }) => advisoryId)).size, count);
  });

  it("are distributed over packages like real data", () => {
    const packages = Map.groupBy(advisories, ({ artifactName }) => artifactName);
    const sizes = [...packages.values()].map(({ length }) => length).sort((a, b) => a - b);
    const at = (part: number) => sizes[Math.floor(sizes.length * part)]!;
    assertAbout(sizes.length, 1600, "packages");
    assertAbout(at(0.5), 14, "the median of a package");
    assertAbout(at(0.9), 42, "the 90th percentile of a package");
    assertAbout(at(0.99), 78, "the 99th percentile of a package");
  });

  it("have events like real data", () => {
    const events = advisories.map((advisory) => advisory.events.length);
    assertAbout(
      events.reduce((sum, each) => sum + each, 0),
      51_000,
      "events",
    );
    assert.equal(Math.max(...events), 54);
    const latest = (name: string) => share(({ events: all }) => all.at(-1)?.type.case === name);
    assertAbout(latest("fixed"), 0.73, "fixed");
    assertAbout(latest("detection"), 0.13, "detected");
    assertAbout(latest("falsePositiveDetermination"), 0.09, "false positives");
  });

  it("have one to three aliases, and mostly Go modules as components", () => {
    assert.ok(advisories.every(({ aliases }) => aliases.length >= 1 && aliases.length <= 3));
    assertAbout(
      share(({ componentType }) => componentType === "go-module"),
      0.55,
      "Go modules",
    );
  });
});
