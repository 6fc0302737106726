// The `affected` of an OSV record from statements of other formats: one entry for each package and release.
import {
  type Product,
  type ProductStatement,
  type RangeEvent,
  RangeEventType,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { ecosystemProblem, packageOf, splitEcosystem } from "../ecosystems.ts";
import { canonicalJson } from "../extra.ts";
import { heldStatement } from "../versions/held-statement.ts";
import { eventJson } from "./json.ts";
import { type State, stateOf } from "./states.ts";

/** Counts something that OSV cannot say. */
export type Loss = (what: string) => void;

type Of<K extends State["kind"]> = Extract<State, { kind: K }>;

/** Returns the entries of the statements. `unknownDistribution` is the ecosystem of packages without one. */
export function entriesOf(
  statements: readonly ProductStatement[],
  unknownDistribution: string,
  loss: Loss,
): JsonObject[] {
  const packages = new Map<string, { readonly name: JsonObject; readonly states: State[] }>();
  for (const statement of statements) {
    const name = packageJsonOf(statement, unknownDistribution);
    if (!name) {
      loss("a product that no ecosystem of OSV has");
      continue;
    }
    reportUnsaid(heldStatement(statement) ?? statement, loss);
    const key = canonicalJson(name);
    const known = packages.get(key) ?? { name, states: [] };
    packages.set(key, known);
    known.states.push(stateOf(statement));
  }
  return [...packages.values()].flatMap(({ name, states }) => {
    const said = saidOf(states, loss);
    return said ? [{ package: name, ...said }] : [];
  });
}

function packageJsonOf({ product, release }: ProductStatement, unknownDistribution: string): JsonObject | undefined {
  const found = product && packageOf(product, unknownDistribution);
  if (!found) return undefined;
  const { ecosystem } = splitEcosystem(found.ecosystem);
  const named = releaseIn(ecosystem, product, release);
  if (named === undefined) return undefined;
  const whole = release === "" ? found.ecosystem : `${ecosystem}:${named}`;
  if (ecosystemProblem(whole) !== "") return undefined;
  return { ecosystem: whole, name: found.name, ...(product.purl === "" ? {} : { purl: product.purl }) };
}

/** Returns a release as the ecosystem names it; undefined for a platform that it cannot name. Libraries have no releases. */
function releaseIn(ecosystem: string, { purl }: Product, release: string): string | undefined {
  if (release !== "" && purl !== "" && !/^pkg:(?:apk|deb|rpm)[/]/.test(purl)) return undefined;
  if (!release.includes("cpe:") && !release.includes(", ")) return release;
  // Records of Red Hat have the rest of a CPE after the vendor: "Red Hat:enterprise_linux:9::appstream".
  return ecosystem === "Red Hat" ? /^cpe:[/][aho]:redhat:([^,\s]+)$/.exec(release)?.[1] : undefined;
}

/** Reports the fields of a statement that OSV has no member for. */
function reportUnsaid({ subcomponents, plan, impact, action, notes }: ProductStatement, loss: Loss): void {
  if (subcomponents.length > 0) loss("the parts that a status is about");
  if (plan !== 0) loss("a plan");
  if (impact + action + notes !== "") loss("a text about a product");
}

/**
 * Merges statements about one package: a version is affected if any statement says so. A status without an equivalent in OSV hides no
 * fix, but while an investigation is open OSV must not state that nobody is affected.
 */
function saidOf(states: readonly State[], loss: Loss): JsonObject | undefined {
  const of = <K extends State["kind"]>(kind: K) => states.filter((state): state is Of<K> => state.kind === kind);
  const [affected, fixed, none, unsaid] = [of("affected"), of("fixed"), of("none"), of("unsaid")];
  for (const { what } of unsaid) loss(what);
  const isOverruled = affected.length + fixed.length > 0 || unsaid.some(({ isOpen }) => isOpen);
  for (const _ of isOverruled ? none : []) loss("a product that is not affected, next to another status");
  if (affected.length > 0) return affectedVersions(affected, fixed, loss);
  if (fixed.length > 0) return fixedRange([...new Set(fixed.flatMap(({ versions }) => versions))]);
  return isOverruled || none.length === 0 ? undefined : falsePositive(none);
}

function affectedVersions(
  affected: readonly Of<"affected">[],
  fixed: readonly Of<"fixed">[],
  loss: Loss,
): JsonObject | undefined {
  const isAll = affected.some(({ versions, ranges }) => versions.length + ranges.length === 0);
  const all = [{ type: "ECOSYSTEM", events: [{ introduced: "0" }] }];
  const ranges = isAll
    ? all
    : unique(affected.flatMap((each) => each.ranges.flatMap((range) => rangesOf(range, loss))));
  const versions = [...new Set(affected.flatMap((each) => each.versions))];
  const events = affected.flatMap((each) => each.ranges.flatMap((range) => range.events));
  const ends = events.filter(({ type }) => type === RangeEventType.FIXED).map(({ version }) => version);
  // A range that ends with the fix would say more: which versions in between are affected.
  if (fixed.some((each) => each.versions.some((version) => !ends.includes(version))))
    loss("a fix, next to affected versions");
  if (ranges.length + versions.length === 0) return undefined;
  return { ...(ranges.length > 0 ? { ranges } : {}), ...(versions.length > 0 ? { versions } : {}) };
}

/** Ranges that OSV allows: each has an `introduced`, and `fixed` or `last_affected`, not both (OSV §events, requirements). */
function rangesOf({ type, repo, events }: VersionRange, loss: Loss): JsonObject[] {
  const isGit = type === "GIT";
  const isWrong =
    isGit && (repo === "" || events.some(({ version }) => !/^(0|[a-f0-9]{40}|[a-f0-9]{64})$/.test(version)));
  if (events.length === 0 || isWrong) {
    loss(isGit ? "a range of commits that OSV does not allow" : "a range of versions in words");
    return [];
  }
  const head = isGit ? { type, repo } : { type: type === "SEMVER" ? type : "ECOSYSTEM" };
  const has = (end: RangeEventType) => events.some((event) => event.type === end);
  // A limit holds for all events of a range.
  const isSplit = has(RangeEventType.LIMIT) || (has(RangeEventType.FIXED) && has(RangeEventType.LAST_AFFECTED));
  return (isSplit ? branchesOf(events) : [events]).map((branch) => {
    const isBegun = branch.some(({ type: each }) => each === RangeEventType.INTRODUCED);
    return { ...head, events: [...(isBegun ? [] : [{ introduced: "0" }]), ...branch.map(eventJson)] };
  });
}

/** Returns the events of each branch, from one `introduced` to the next. */
function branchesOf(events: readonly RangeEvent[]): RangeEvent[][] {
  const branches: RangeEvent[][] = [];
  for (const event of events) {
    if (event.type === RangeEventType.INTRODUCED || branches.length === 0) branches.push([]);
    branches.at(-1)!.push(event);
  }
  return branches;
}

/** Of several fixes, the versions before all of them are affected: nobody has said where their branches begin. */
function fixedRange(versions: readonly string[]): JsonObject {
  return { ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, ...versions.map((fixed) => ({ fixed }))] }] };
}

function falsePositive(none: readonly Of<"none">[]): JsonObject {
  const reason = none.map((each) => each.reason).find((word) => word !== "");
  const justification = none.map((each) => each.justification).find((word) => word !== "");
  const mark = { false_positive: true, ...(reason ? { reason } : justification ? { justification } : {}) };
  return {
    ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "0" }], database_specific: mark }],
  };
}

/** Returns the items without repetitions. */
export function unique(items: readonly JsonObject[]): JsonObject[] {
  return [...new Map(items.map((item) => [canonicalJson(item), item])).values()];
}
