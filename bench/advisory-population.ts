// Advisories of a distribution of packages, in the shape that such data has: many for few packages, few for many.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Advisory,
  type AdvisoryEventSchema,
  AdvisorySchema,
  ReviewState,
} from "../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { publicIdOf } from "../src/advisories/public-id.ts";
import { toTimestamp } from "../src/aip/timestamps.ts";
import type { Random } from "./random.ts";

type EventInit = MessageInitShape<typeof AdvisoryEventSchema>;
type EventType = NonNullable<EventInit["type"]>;

/** How many advisories a package has, by the part of packages that have fewer. */
const perPackage: readonly (readonly [part: number, count: number])[] = [
  [0, 1],
  [0.5, 14],
  [0.9, 42],
  [0.99, 78],
  [1, 215],
];

/** In percent. */
const componentTypes: Readonly<Record<string, number>> = {
  "go-module": 55,
  apk: 8,
  java: 4,
  npm: 3,
  python: 2,
  "rust-crate": 2,
  gem: 2,
  binary: 24,
};
const latestTypes: Readonly<Record<string, number>> = {
  fixed: 73,
  detection: 13,
  falsePositiveDetermination: 9,
  pendingUpstreamFix: 4,
  fixNotPlanned: 1,
};

/** One vulnerability in some packages has one CVE. */
const vulnerabilities = 12_000;
/** The golden ratio: its multiples fall evenly over the parts, however many there are. */
const spread = (Math.sqrt(5) - 1) / 2;
const authors = ["scanner", "importer", "ann", "ben", "cleo", "dan"] as const;
const words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "islet", "juniper"] as const;
const start = Date.UTC(2023, 0, 1);
const hour = 60 * 60 * 1000;

/** Yields so many advisories, package by package. */
export function* populateAdvisories(random: Random, count: number): Generator<Advisory> {
  for (let made = 0, number = 0; made < count; number++) {
    const name = `${random.pick(words)}-${random.pick(words)}-${number}`;
    for (let left = quantile((number * spread) % 1); left > 0 && made < count; left--, made++) {
      yield newAdvisory(random, name, made);
    }
  }
}

/** How many advisories the package has that so many parts of packages have fewer than; between the known ones by ratio. */
function quantile(part: number): number {
  const above = perPackage.findIndex(([known]) => known > part);
  const [from, low] = perPackage[above - 1]!;
  const [to, high] = perPackage[above]!;
  return Math.round(low * (high / low) ** ((part - from) / (to - from)));
}

function newAdvisory(random: Random, artifactName: string, index: number): Advisory {
  const componentType = weighted(random, componentTypes);
  const componentName = `${componentType === "go-module" ? "example.test/" : ""}${random.pick(words)}${random.below(250)}`;
  const vulnerability = random.below(vulnerabilities);
  const createTime = toTimestamp(start + index * hour);
  return create(AdvisorySchema, {
    advisoryId: publicIdOf(Buffer.from(random.hex(12), "hex")),
    author: random.pick(authors),
    artifactName,
    artifactType: "apk",
    artifactArchitecture: random.below(10) < 7 ? "x86_64" : "aarch64",
    componentName,
    componentType,
    componentLocation: `/usr/bin/${artifactName}`,
    aliases: [
      `CVE-${2020 + (vulnerability % 7)}-${10_000 + vulnerability}`,
      ...(vulnerability % 5 < 3
        ? [`GHSA-${String(vulnerability).padStart(4, "0")}-${artifactName.length}abc-defg`]
        : []),
      ...(componentType === "go-module" && vulnerability % 3 === 0 ? [`GO-2024-${vulnerability}`] : []),
    ],
    events: newEvents(random, index),
    ...(index % 10 === 0 ? { legacyAdvisoryId: `OLD-${index}` } : {}),
    createTime,
    updateTime: createTime,
  });
}

/** Mostly a detection and what came of it; now and then the same thing over and over. */
function newEvents(random: Random, index: number): EventInit[] {
  const latest = weighted(random, latestTypes);
  const events = latest === "detection" || random.below(100) < 21 ? [latest] : ["detection", latest];
  if (random.below(100) < 2) events.unshift("detection");
  while (index % 5000 === 4999 && events.length < 54) events.unshift("detection");
  return events.map((name, i) => ({
    createTime: toTimestamp(start + (index + i) * hour),
    author: random.pick(authors),
    reviewer: random.below(2) === 0 ? "" : random.pick(authors),
    reviewState: i < events.length - 1 || random.below(20) > 0 ? ReviewState.APPROVED : ReviewState.PENDING,
    type: typeOf(name, random),
  }));
}

function typeOf(name: string, random: Random): EventType {
  if (name === "fixed") return { case: "fixed", value: { fixedVersion: `1.${random.below(100)}.0-r0` } };
  if (name !== "detection") return { case: name, value: { note: "as upstream says" } } as EventType;
  const value = { scanner: "scanner", componentId: random.hex(8), componentVersion: `v1.${random.below(40)}.0` };
  return { case: "detection", value: { type: { case: "scanv1", value } } };
}

function weighted(random: Random, weights: Readonly<Record<string, number>>): string {
  let left = random.below(100);
  for (const [name, weight] of Object.entries(weights)) {
    left -= weight;
    if (left < 0) return name;
  }
  return Object.keys(weights)[0]!;
}
