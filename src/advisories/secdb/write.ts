// Writes the security database of one repository of one release of a distribution.
import type { JsonObject } from "../../base/json.ts";
import { nextSlice } from "../../base/slices.ts";
import { parseExtra } from "../extra.ts";
import type { Writer } from "../writing.ts";
import { chooseDatabase, mostFrequent } from "./choose.ts";
import { type Claim, claimsOf } from "./claims.ts";
import { defaultHeader } from "./database.ts";

/** Writes a database; claims of other databases are counted as lost. */
export const writeSecdb: Writer = async function* (advisories, { ecosystem }, losses) {
  const claims: Claim[] = [];
  for await (const each of advisories)
    for (const claim of claimsOf(each, (what) => losses.add(what, each.advisory?.advisoryId ?? ""))) claims.push(claim);
  const { distribution, release, repository, chosen } = chooseDatabase(claims, ecosystem, losses);
  const written = withoutOverruled(chosen, (what, { advisoryId }) => losses.add(what, advisoryId));
  const known = mostFrequent(written.map(({ header }) => header));
  const header = known === "" ? defaultHeader(distribution, release, repository) : parseExtra(known);
  const architectures = architecturesOf(written);
  const { archs = architectures.length > 0 || known === "" ? architectures : undefined, ...members } = header;
  for (const claim of written) {
    if (claim.architecture !== "" && `${archs}` !== claim.architecture)
      losses.add("the architecture of a package", claim.advisoryId);
  }
  const head = JSON.stringify({ ...members, archs }, null, 2);
  yield `${head.slice(0, head.lastIndexOf("\n"))},\n  "packages": [`;
  let separator = "\n";
  for (const [name, secfixes] of packagesOf(written)) {
    await nextSlice();
    yield separator + JSON.stringify({ pkg: { name, secfixes } }, null, 2).replace(/^/gm, "    ");
    separator = ",\n";
  }
  yield `${separator === "\n" ? "" : "\n  "}]\n}\n`;
};

/**
 * The claims that a database can hold. A fix holds only if nobody says of the vulnerability in the package that a version without a
 * fix is affected. That no version is affected holds only if no other record says that some version is, or may be.
 */
function withoutOverruled(claims: readonly Claim[], lose: (what: string, claim: Claim) => void): Claim[] {
  const keyed = claims.flatMap((claim) => claim.ids.map((id) => ({ key: `${claim.name}\n${id}`, claim })));
  const unfixed = new Set(keyed.filter(({ claim }) => claim.isUnfixed).map(({ key }) => key));
  const affecting = Map.groupBy(
    keyed.filter(({ claim }) => claim.version !== "0"),
    ({ key }) => key,
  );
  const isOverruled = (claim: Claim, key: string) =>
    claim.version === "0"
      ? affecting.get(key)?.some((other) => other.claim.record !== claim.record || claim.header === "")
      : unfixed.has(key);
  return claims.filter((claim) => {
    if (claim.version === "") return false;
    if (!claim.ids.some((id) => isOverruled(claim, `${claim.name}\n${id}`))) return true;
    const isNone = claim.version === "0";
    const what = isNone
      ? "a package that is not affected, next to another status"
      : "a fix, next to versions without one";
    lose(what, claim);
    return false;
  });
}

function architecturesOf(claims: readonly Claim[]): string[] {
  return [...new Set(claims.map(({ architecture }) => architecture))].filter((each) => each !== "").sort();
}

/** Returns the packages by name, with the entries of each version. */
function packagesOf(claims: readonly Claim[]): (readonly [name: string, secfixes: JsonObject])[] {
  const packages = new Map<string, Map<string, Set<string>>>();
  for (const { name, version, entries } of claims) {
    const versions = packages.get(name) ?? new Map<string, Set<string>>();
    packages.set(name, versions);
    const known = versions.get(version) ?? new Set<string>();
    versions.set(version, known);
    for (const entry of entries) known.add(entry);
  }
  return sorted(packages).map(([name, versions]) => [
    name,
    Object.fromEntries(sorted(versions).map(([version, entries]) => [version, [...entries].sort()])),
  ]);
}

function sorted<T>(map: ReadonlyMap<string, T>): (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
