// A seeded generator of OSV records: every ecosystem, and every shape that public databases have. All of them are made up.

/** A record as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: documents of every shape
export type Json = any;

/** Draws from a seed: the same seed gives the same draws (https://prng.di.unimi.it/, splitmix32). */
export function newDraws(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    below,
    /** True in one of `of` draws. */
    oneIn: (of: number) => below(of) === 0,
    pick: <T>(items: readonly T[]): T => items[below(items.length)]!,
    /** Ranks of versions, in their order. */
    ranks: (count: number) => [...new Set(Array.from({ length: count }, () => 1 + below(998)))].sort((a, b) => a - b),
  };
}

type Draws = ReturnType<typeof newDraws>;

/** The rules of an ecosystem for generated packages. */
interface Ecosystem {
  readonly ecosystem: string;
  readonly releases?: readonly string[];
  readonly names: readonly string[];
  /** The package URL that the source gives, if it gives one; `NAME` stands for the name. */
  readonly purl?: string;
  readonly type?: "SEMVER";
}

/** The ecosystems of generated packages. */
export const generatedEcosystems: readonly Ecosystem[] = [
  { ecosystem: "npm", names: ["left", "@scope/right"], purl: "pkg:npm/NAME", type: "SEMVER" },
  {
    ecosystem: "Go",
    names: ["example.test/lib", "example.test/Lib/v2", "stdlib"],
    purl: "pkg:golang/NAME",
    type: "SEMVER",
  },
  { ecosystem: "crates.io", names: ["crate-a", "crate_b"], purl: "pkg:cargo/NAME", type: "SEMVER" },
  { ecosystem: "PyPI", names: ["snake-a", "snake-b"], purl: "pkg:pypi/NAME" },
  { ecosystem: "Maven", names: ["org.example:core", "org.example:web"] },
  { ecosystem: "Maven:https://maven.example.test", names: ["org.example:other"] },
  { ecosystem: "RubyGems", names: ["gem-a"], purl: "pkg:gem/NAME" },
  { ecosystem: "NuGet", names: ["Example.Core"], purl: "pkg:nuget/NAME" },
  { ecosystem: "Packagist", names: ["vendor/package"], purl: "pkg:composer/NAME" },
  { ecosystem: "Hex", names: ["hexa"], purl: "pkg:hex/NAME", type: "SEMVER" },
  { ecosystem: "Pub", names: ["dart_a"], purl: "pkg:pub/NAME", type: "SEMVER" },
  { ecosystem: "Hackage", names: ["haskell-a"] },
  { ecosystem: "CRAN", names: ["rA"] },
  { ecosystem: "SwiftURL", names: ["github.com/example/swift-a"], type: "SEMVER" },
  { ecosystem: "GitHub Actions", names: ["example/action"], type: "SEMVER" },
  { ecosystem: "VSCode", names: ["publisher.extension"], type: "SEMVER" },
  { ecosystem: "ConanCenter", names: ["conan-a"] },
  { ecosystem: "Bitnami", names: ["bit-a"], type: "SEMVER" },
  { ecosystem: "Linux", names: ["Kernel"] },
  { ecosystem: "Android", names: [":linux_kernel:Qualcomm", "platform/frameworks/base"] },
  { ecosystem: "OSS-Fuzz", names: ["fuzzed"], purl: "pkg:generic/NAME" },
  {
    ecosystem: "Debian",
    releases: ["11", "12", "13"],
    names: ["tool", "libc++"],
    purl: "pkg:deb/debian/NAME?arch=source",
  },
  {
    ecosystem: "Ubuntu",
    releases: ["22.04:LTS", "Pro:18.04:LTS", "25.10"],
    names: ["tool"],
    purl: "pkg:deb/ubuntu/NAME",
  },
  {
    ecosystem: "Alpine",
    releases: ["v3.20", "v3.21"],
    names: ["tool", "py3-x"],
    purl: "pkg:apk/alpine/NAME?arch=source",
  },
  { ecosystem: "Wolfi", names: ["tool", "tool-doc"], purl: "pkg:apk/wolfi/NAME?arch=x86_64" },
  { ecosystem: "Chainguard", names: ["tool"] },
  {
    ecosystem: "Red Hat",
    releases: ["enterprise_linux:9::appstream", "rhel_aus:8.4::baseos"],
    names: ["tool"],
    purl: "pkg:rpm/redhat/NAME",
  },
  {
    ecosystem: "SUSE",
    releases: ["Linux Enterprise Server 15 SP6"],
    names: ["tool"],
    purl: "pkg:rpm/suse/NAME&distro=SUSE",
  },
  { ecosystem: "AlmaLinux", releases: ["9"], names: ["tool"] },
  { ecosystem: "Rocky Linux", releases: ["9"], names: ["tool"] },
  { ecosystem: "Root", releases: ["Alpine:3.18", "PyPI"], names: ["root-tool"] },
];

/** Returns a version by its rank: a higher rank is a later version in the order of the ecosystem. Ranks are 0 to 999. */
export function versionOf(ecosystem: string, rank: number): string {
  const [major, minor, patch] = [Math.floor(rank / 100), Math.floor(rank / 10) % 10, rank % 10];
  const plain = `${major}.${minor}.${patch}`;
  const epoch = major >= 5 ? "1:" : "";
  const isPreview = rank % 4 === 0;
  switch (ecosystem.split(":")[0]) {
    case "Debian":
    case "Ubuntu":
      return `${epoch}${plain}-1${isPreview ? "~rc1" : "+deb12u1"}`;
    case "Red Hat":
    case "SUSE":
    case "AlmaLinux":
    case "Rocky Linux":
      return `${epoch}${plain}-${isPreview ? "0.rc1" : "1"}.el9`;
    case "Alpine":
    case "Wolfi":
    case "Chainguard":
      return `${plain}${isPreview ? "_rc1" : ""}-r${minor}`;
    case "PyPI":
      return `${plain}${isPreview ? "rc1" : ""}`;
    case "RubyGems":
      return `${plain}${isPreview ? ".rc1" : ""}`;
    case "npm":
    case "Go":
    case "crates.io":
    case "Hex":
    case "Maven":
    case "NuGet":
      return `${plain}${isPreview ? "-rc.1" : ""}`;
    default:
      return plain;
  }
}

function commitOf(rank: number): string {
  return rank.toString(16).padStart(40, "a");
}

/** Events of one to three branches. A range has fixes or last affected versions, not both (OSV §events, requirements). */
function eventsOf(draws: Draws, version: (rank: number) => string): Json[] {
  const [end, ...ranks] = [draws.pick(["fixed", "last_affected"]), ...draws.ranks(1 + draws.below(6))];
  const events: Json[] = ranks.map((rank, i) => ({ [i % 2 === 0 ? "introduced" : end]: version(rank) }));
  if (draws.oneIn(2)) events[0] = { introduced: "0" };
  if (draws.oneIn(8)) events.push({ limit: version(999) });
  return draws.oneIn(5) ? events.reverse() : events;
}

function rangesOf(
  draws: Draws,
  { ecosystem, type = "ECOSYSTEM" as string }: { ecosystem: string; type?: string },
): Json[] {
  const ranges: Json[] = Array.from({ length: 1 + draws.below(3) }, () => ({
    type,
    events: eventsOf(draws, (rank) => versionOf(ecosystem, rank)),
    ...(draws.oneIn(6) ? { database_specific: { last_known_affected_version_range: "< 2.0" } } : {}),
  }));
  return draws.oneIn(5) ? [...ranges, gitRange(draws)] : ranges;
}

function gitRange(draws: Draws): Json {
  const repo = `https://git.example.test/${draws.pick(["a", "b"])}.git`;
  return { type: "GIT", repo, events: eventsOf(draws, commitOf) };
}

/** Nobody is affected, in each of the ways to say so. */
function falsePositive(draws: Draws): Json {
  const range = { type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "0" }] };
  const marks = [
    { false_positive: true },
    { false_positive: true, reason: "inline-mitigations-exist" },
    { false_positive: "component-vulnerability-mismatch" },
    { false_positive: true, justification: "vulnerable_code_not_present" },
  ];
  const database_specific = draws.pick(marks);
  return draws.pick([
    { ranges: [range] },
    { ranges: [{ ...range, database_specific }] },
    { ranges: [range], database_specific },
  ]);
}

const severities = [
  { type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H" },
  { type: "CVSS_V4", score: "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N", source: "CNA" },
  { type: "CVSS_V2", score: "AV:N/AC:L/Au:N/C:P/I:P/A:P" },
  { type: "Ubuntu", score: "high" },
];

function affectedOf(draws: Draws, hasSeverity: boolean): Json {
  if (draws.oneIn(15))
    return { ranges: [gitRange(draws), ...(draws.oneIn(2) ? [gitRange(draws)] : [])], versions: ["v1.0"] };
  const { ecosystem, releases, names, purl, type } = draws.pick(generatedEcosystems);
  const [name, release] = [draws.pick(names), releases && draws.oneIn(8) === false ? `:${draws.pick(releases)}` : ""];
  const versions = draws.ranks(1 + draws.below(5)).map((rank) => versionOf(ecosystem, rank));
  const said = draws.pick(["ranges", "ranges", "ranges", "both", "both", "versions", "nothing", "none"]);
  return {
    package: {
      ecosystem: ecosystem + release,
      name,
      ...(purl && draws.oneIn(2)
        ? { purl: purl.replace("NAME", name.split("/").map(encodeURIComponent).join("/")) }
        : {}),
    },
    ...(said === "ranges" || said === "both"
      ? { ranges: rangesOf(draws, { ecosystem, ...(type ? { type } : {}) }) }
      : {}),
    ...(said === "versions" || said === "both" ? { versions } : {}),
    ...(said === "none" ? falsePositive(draws) : {}),
    ...(hasSeverity && draws.oneIn(2) ? { severity: [draws.pick(severities)] } : {}),
    ...(draws.oneIn(4) ? { ecosystem_specific: { imports: [{ path: name, symbols: ["A.b"] }] } } : {}),
    ...(draws.oneIn(4) && said !== "none"
      ? { database_specific: { source: "https://db.example.test", cwes: [79, 1.5] } }
      : {}),
  };
}

const times = [
  "2030-01-02T03:04:05Z",
  "2030-01-02T03:04:05.678Z",
  "2030-01-02T03:04:05.123456789Z",
  "0001-01-01T00:00:00Z",
  "1969-12-31T23:59:59.9Z",
  "2031-05-05T00:00:00.000Z",
];

/** Returns a record. The id follows from the number. */
export function generatedRecord(draws: Draws, number: number): Json {
  const id = `${draws.pick(["GO", "GHSA", "PYSEC", "CGA", "DSA", "ACME"])}-2030-${number}`;
  const cve = `CVE-2030-${10_000 + number}`;
  const isSevereByPackage = draws.oneIn(4);
  const maybe = (of: number, members: Json) => (draws.oneIn(of) ? members : {});
  return {
    ...maybe(2, { schema_version: "1.7.0" }),
    id,
    modified: draws.pick(times),
    ...maybe(2, { published: draws.pick(times) }),
    ...maybe(10, { withdrawn: draws.pick(times) }),
    ...maybe(2, { aliases: [cve, ...(draws.oneIn(3) ? [`GHSA-aaaa-bbbb-${number}`] : [])] }),
    ...maybe(4, { upstream: [cve] }),
    ...maybe(3, { related: [id, cve] }),
    ...maybe(2, { summary: "A lib écrit trop \u{1f600}", details: "Line 1\n\n* a\n* b\n" }),
    ...(isSevereByPackage ? {} : maybe(2, { severity: [draws.pick(severities)] })),
    ...(draws.oneIn(12)
      ? {}
      : { affected: Array.from({ length: 1 + draws.below(4) }, () => affectedOf(draws, isSevereByPackage)) }),
    ...maybe(2, {
      references: [{ type: draws.pick(["ADVISORY", "FIX", "WEB"]), url: `https://example.test/${number}` }],
    }),
    ...maybe(4, { credits: [{ name: "A", type: "FINDER", contact: ["https://a.example.test"] }, { name: "B" }] }),
    ...maybe(3, { database_specific: { severity: "HIGH", nested: [{ b: null, a: [] }], big: 1e21 } }),
  };
}

/** Records of a seed. */
export function generatedRecords(seed: number, count: number): Json[] {
  const draws = newDraws(seed);
  return Array.from({ length: count }, (_, i) => generatedRecord(draws, i));
}
