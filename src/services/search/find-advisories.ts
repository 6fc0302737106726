// Finds advisories by their ids and aliases, and the packages that advisories are about.
import { ResourceKind } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { subtreesWithin } from "../../pipeline/authorize.ts";
import { findRows } from "../../storage/collection/rows.ts";
import { findTermEntries } from "../../storage/vulnerabilities/term-entries.ts";
import { findByBeginning, shown } from "./find-named.ts";
import { compareNames, type FoundRows, together } from "./found.ts";
import { namedAdvisories } from "./named-kinds.ts";
import { isSearched, type Query } from "./query.ts";

/** How many entries of the index of terms are looked at: an alias has a few, a package may have thousands. */
const maxEntries = 2_000;

/** Returns the advisories with the text as the beginning of their id, or as an alias: "CVE-2024-3094". */
export async function findAdvisories(query: Query): Promise<FoundRows> {
  const entries = await entriesOf(query, ["advisoryIds", "legacyAdvisoryIds", "aliases"]);
  const uids = [...new Set(entries.map(({ uid }) => uid))].slice(0, query.limit + 1);
  const rows = await findRows(query.session, namedAdvisories.collection, uids);
  const found = rows.map((row) => shown(namedAdvisories, row)).sort(compareNames);
  const byId = await Promise.all(spellings(query).map((id) => findByBeginning(query, namedAdvisories, id)));
  return together({ found, truncated: entries.length === maxEntries }, ...byId);
}

/** Returns the package with the text as its name, if advisories are about it. It has no uid. */
export async function findPackages(query: Query): Promise<FoundRows> {
  const entries = await entriesOf(query, ["componentNames", "artifactNames"]);
  const names = [...new Set(entries.map(({ value }) => value))].sort();
  return { found: names.map((name) => ({ kind: ResourceKind.PACKAGE, uid: "", name })), truncated: false };
}

async function entriesOf(query: Query, filters: Parameters<typeof findTermEntries>[1]["filters"]) {
  const { session, call, parent } = query;
  if (subtreesWithin(call, namedAdvisories.capability, parent).length === 0) return [];
  const wanted = { filters, values: spellings(query), group: parent };
  const entries = await findTermEntries(session, wanted, maxEntries);
  return entries.filter(({ uid }) => isSearched(query, namedAdvisories, uid));
}

/** Returns the spellings of an id: most are in upper case, and are often typed in lower case. */
function spellings({ given, text }: Query): string[] {
  return [...new Set([given, text, given.toUpperCase()])];
}
