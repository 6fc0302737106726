// OSV records in the shape of the public feeds: most say that one package is malicious, the others name ranges of one to a few
// packages. Most ids have a year and a number, which grow with the time of publication; those of GitHub are random.
import type { Random } from "./random.ts";

interface Feed {
  readonly prefix: string;
  readonly ecosystem: string;
  /** Of 1000 records. */
  readonly share: number;
  /** How many bytes of description a record has on average. */
  readonly details: number;
}

const malicious: Feed = { prefix: "MAL", ecosystem: "npm", share: 550, details: 900 };
const feeds: readonly Feed[] = [
  malicious,
  { prefix: "GHSA", ecosystem: "npm", share: 60, details: 1500 },
  { prefix: "GHSA", ecosystem: "PyPI", share: 60, details: 1500 },
  { prefix: "GHSA", ecosystem: "Maven", share: 60, details: 1500 },
  { prefix: "GO", ecosystem: "Go", share: 20, details: 700 },
  { prefix: "RUSTSEC", ecosystem: "crates.io", share: 10, details: 900 },
  { prefix: "DEBIAN", ecosystem: "Debian:12", share: 140, details: 300 },
  { prefix: "ALPINE", ecosystem: "Alpine:v3.22", share: 40, details: 200 },
  { prefix: "UBUNTU", ecosystem: "Ubuntu:24.04:LTS", share: 60, details: 400 },
];

const words = [
  "allows",
  "an",
  "attacker",
  "to",
  "read",
  "memory",
  "of",
  "the",
  "parser",
  "when",
  "input",
  "is",
  "crafted",
];
const packages = 40_000;
const firstTime = Date.UTC(2019, 0, 1);
const lastTime = Date.UTC(2026, 0, 1);
const day = 86_400_000;

/** A record; further members are as OSV has them. */
export interface OsvRecord {
  readonly id: string;
  readonly affected: readonly { readonly package: { readonly ecosystem: string; readonly name: string } }[];
  readonly [member: string]: unknown;
}

/** Yields so many records. */
export function* populateOsv(random: Random, count: number): Generator<OsvRecord> {
  for (let i = 0; i < count; i++) {
    const published = new Date(firstTime + (i * (lastTime - firstTime)) / count);
    yield newRecord(random, feedOf(random.below(1000)), published, i);
  }
}

function feedOf(point: number): Feed {
  let sum = 0;
  for (const feed of feeds) {
    sum += feed.share;
    if (point < sum) return feed;
  }
  return malicious;
}

function newRecord(random: Random, feed: Feed, published: Date, index: number): OsvRecord {
  const { prefix, details } = feed;
  const year = published.getUTCFullYear();
  const number = prefix === "GHSA" ? `${random.hex(4)}-${random.hex(4)}-${random.hex(4)}` : `${year}-${index}`;
  const isMalicious = feed === malicious;
  const names = [packageName(random, feed), ...(random.below(10) === 0 ? [packageName(random, feed)] : [])];
  return {
    schema_version: "1.7.0",
    id: `${prefix}-${number}`,
    published: published.toISOString(),
    modified: new Date(published.getTime() + day).toISOString(),
    ...(isMalicious ? {} : { aliases: [`CVE-${year}-${10_000 + random.below(200_000)}`] }),
    summary: `${names[0]}: ${isMalicious ? "malicious code" : "improper input validation"}`,
    details: sentence(random, details),
    ...(isMalicious ? {} : { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N" }] }),
    affected: [...new Set(names)].map((name) => affectedPackage(random, feed, name)),
    references: [{ type: "ADVISORY", url: `https://advisories.example/${prefix}-${number}` }],
    database_specific: { source: `https://feed.example/${prefix}/${number}.json` },
  };
}

function packageName(random: Random, feed: Feed): string {
  // A malicious package has one record; a few packages have most of the other records.
  if (feed === malicious) return `package-${random.hex(4)}`;
  const { ecosystem } = feed;
  const part = random.below(packages) * random.below(packages);
  const number = Math.floor(part / packages);
  if (ecosystem === "Maven") return `org.example${number % 500}:artifact${number}`;
  if (ecosystem === "Go") return `example.test/module${number}`;
  return `package-${number}`;
}

function affectedPackage(random: Random, { ecosystem, prefix }: Feed, name: string) {
  const at = { package: { ecosystem, name } };
  if (prefix === "MAL") return { ...at, versions: [`1.0.${random.below(20)}`, `1.1.${random.below(20)}`] };
  const branches = 1 + (random.below(5) === 0 ? 1 : 0);
  const type = ["npm", "Go", "crates.io"].includes(ecosystem) ? "SEMVER" : "ECOSYSTEM";
  const ranges = Array.from({ length: branches }, (_, i) => ({
    type,
    events: [
      { introduced: i === 0 ? "0" : `${i + 1}.0.0` },
      { fixed: `${i + 1}.${random.below(30)}.${random.below(9)}` },
    ],
  }));
  return { ...at, ranges };
}

function sentence(random: Random, length: number): string {
  const target = length / 2 + random.below(length);
  let text = "";
  // Twelve random words each time: what all have in common would compress, but is written all the same.
  while (text.length < target) text += `${Array.from({ length: 12 }, () => random.pick(words)).join(" ")}. `;
  return text.trim();
}
