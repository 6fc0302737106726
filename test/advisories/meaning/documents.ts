// Small documents of four formats on one vulnerability in one package, with what each says of a version: worked out from how it was
// generated, and not by reading it.
import type { newDraws } from "../osv/generated.ts";

/** The statuses of a version, from the best to the worst. */
export const levels = ["not affected", "fixed", "under investigation", "affected"] as const;
export type Level = (typeof levels)[number];

/** The versions that documents speak of. */
export const versions: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8];

/** A document, and what it says. */
export interface Saying {
  readonly format: "osv" | "openvex" | "csaf" | "secdb";
  readonly source: string;
  readonly json: unknown;
  at(version: number): Level | undefined;
}

type Draws = ReturnType<typeof newDraws>;

export const cve = "CVE-2030-0001";
export const purlOf = (version: number | "") => `pkg:apk/wolfi/x${version === "" ? "" : `@${version}`}`;

/** Returns the worst of what is said. */
export function worstOf(said: readonly (Level | undefined)[]): Level | undefined {
  return levels[Math.max(...said.map((level) => (level === undefined ? -1 : levels.indexOf(level))))];
}

/** Generates a document of one of the formats. */
export function generateSaying(draws: Draws, number: number): Saying {
  const time = `2030-01-0${1 + draws.below(9)}T00:00:00Z`;
  const make = draws.pick([generateOsv, generateOpenvex, generateCsaf, generateSecdb]);
  return { ...make(draws, number, time), source: `s${number}` };
}

type Made = Omit<Saying, "source">;

const version = (draws: Draws) => 1 + draws.below(versions.length);

/** Intervals of affected versions, with how each ends. Events are sometimes in no order. */
function generateOsv(draws: Draws, number: number, time: string): Made {
  const end = draws.pick(["fixed", "last_affected"]);
  const ranges = Array.from({ length: draws.below(3) }, () => {
    const cuts = [...new Set(Array.from({ length: 1 + draws.below(4) }, () => version(draws)))].sort((a, b) => a - b);
    const first = draws.oneIn(2) ? [{ introduced: "0" }] : [];
    const events = [
      ...first,
      ...cuts.map((cut, i) => ({ [(i + first.length) % 2 === 0 ? "introduced" : end]: `${cut}` })),
    ];
    return { type: "ECOSYSTEM", events: draws.oneIn(4) ? events.toReversed() : events };
  });
  const named = draws.oneIn(2) ? [`${version(draws)}`] : [];
  const item = {
    package: { ecosystem: "Wolfi", name: "x" },
    ...(ranges.length > 0 && { ranges }),
    ...(named.length > 0 && { versions: named }),
  };
  const json = { schema_version: "1.7.0", id: `OSV-2030-${number}`, modified: time, upstream: [cve], affected: [item] };
  return { format: "osv", json, at: (v) => osvLevel(item, v) };
}

/** The algorithm of https://ossf.github.io/osv-schema/#evaluation; an item that names nothing is said of every version. */
// biome-ignore lint/suspicious/noExplicitAny: documents of every shape
export function osvLevel({ ranges = [], versions: named = [] }: any, v: number): Level | undefined {
  if (
    ranges.some(
      (range: { database_specific?: { false_positive?: unknown } }) => range.database_specific?.false_positive,
    )
  )
    return "not affected";
  if (named.includes(`${v}`) || ranges.length + named.length === 0) return "affected";
  const each = ranges.map(({ events }: { events: Record<string, string>[] }): Level => {
    let level: Level = "not affected";
    for (const event of events.toSorted((a, b) => Number(Object.values(a)[0]) - Number(Object.values(b)[0]))) {
      const [[name, text] = ["", ""]] = Object.entries(event);
      if (name === "introduced" && v >= Number(text)) level = "affected";
      if (name === "fixed" && v >= Number(text)) level = "fixed";
      if ((name === "last_affected" && v > Number(text)) || (name === "limit" && v >= Number(text)))
        level = "not affected";
    }
    return level;
  });
  return worstOf(each);
}

function generateOpenvex(draws: Draws, number: number, time: string): Made {
  const said = new Map<number | "", Level>();
  for (let i = 0; i <= draws.below(3); i++) said.set(draws.oneIn(3) ? "" : version(draws), draws.pick(levels));
  return openvexOf(time, number, said);
}

/** Returns a document of OpenVEX, by versions. */
export function openvexOf(timestamp: string, number: number, said: ReadonlyMap<number | "", Level>): Saying {
  const statements = [...said].map(([v, level]) => ({
    vulnerability: { name: cve },
    products: [{ "@id": purlOf(v) }],
    status: level.replace(" ", "_"),
    ...(level === "not affected" && { justification: "component_not_present" }),
    ...(level === "affected" && { action_statement: "Wait." }),
  }));
  const json = {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `https://vex.example/${number}`,
    author: "Example",
    timestamp,
    version: 1,
    statements,
  };
  return { format: "openvex", source: "", json, at: (v) => worstOf([said.get(""), said.get(v)]) };
}

/** The members of `product_status`. */
export const csafWords: Readonly<Record<Level, string>> = {
  "not affected": "known_not_affected",
  fixed: "fixed",
  "under investigation": "under_investigation",
  affected: "known_affected",
};

/** A statement of a CSAF document about one version, or about a half-open range of versions. */
interface CsafClaim {
  readonly id: string;
  readonly level: Level;
  readonly from: number;
  readonly to: number | undefined;
}

function generateCsaf(draws: Draws, number: number, time: string): Made {
  const said = Array.from({ length: 1 + draws.below(3) }, (_, i): CsafClaim => {
    const from = 1 + draws.below(6);
    const to = draws.oneIn(2) ? from + 1 + draws.below(8 - from) : undefined;
    return { id: `P${i}`, level: draws.pick(levels), from, to };
  });
  return csafOf([time, time], number, said);
}

/** Returns a document of CSAF that was published and changed at these times. */
export function csafOf(
  [published, changed]: readonly [string, string],
  number: number,
  said: readonly CsafClaim[],
): Saying {
  const branches = said.map(({ id, from, to }) => ({
    ...(to === undefined
      ? { category: "product_version", name: `${from}` }
      : { category: "product_version_range", name: `vers:apk/>=${from}|<${to}` }),
    product: {
      name: id,
      product_id: id,
      product_identification_helper: { purl: purlOf(to === undefined ? from : "") },
    },
  }));
  const statuses = Map.groupBy(said, ({ level }) => csafWords[level]);
  const tracking = {
    id: `D${number}`,
    status: "final",
    version: "1",
    initial_release_date: published,
    current_release_date: changed,
    revision_history: [{ date: changed, number: "1", summary: "First" }],
  };
  const json = {
    document: {
      category: "csaf_vex",
      csaf_version: "2.0",
      title: "Example",
      tracking,
      publisher: { name: "Example", category: "vendor", namespace: "https://csaf.example" },
    },
    product_tree: { branches: [{ category: "product_name", name: "x", branches }] },
    vulnerabilities: [
      {
        cve,
        product_status: Object.fromEntries([...statuses].map(([word, list]) => [word, list.map(({ id }) => id)])),
      },
    ],
  };
  const isIn = (v: number, { from, to }: CsafClaim) => (to === undefined ? v === from : v >= from && v < to);
  const at = (v: number) => worstOf(said.filter((each) => isIn(v, each)).map(({ level }) => level));
  return { format: "csaf", source: "", json, at };
}

function generateSecdb(draws: Draws): Made {
  const fixes = draws.oneIn(4) ? [0] : [...new Set([version(draws), version(draws)])];
  const secfixes = Object.fromEntries(fixes.map((fix) => [`${fix}`, [cve]]));
  const json = {
    apkurl: "{{urlprefix}}/{{reponame}}/{{arch}}/{{pkg.name}}-{{pkg.ver}}.apk",
    urlprefix: "https://packages.wolfi.dev",
    reponame: "os",
    archs: ["x86_64"],
    packages: [{ pkg: { name: "x", secfixes } }],
  };
  return { format: "secdb", json, at: (v) => secdbLevel(fixes, v) };
}

/** A version is affected if it comes before one of the fixes; a fix in 0 says that none is. */
export function secdbLevel(fixes: readonly number[], v: number): Level | undefined {
  if (fixes.length === 0) return undefined;
  if (fixes.every((fix) => fix === 0)) return "not affected";
  return fixes.some((fix) => v < fix) ? "affected" : "fixed";
}
