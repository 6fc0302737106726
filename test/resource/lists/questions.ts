// Lists that are asked for again and again: in every order, by every filter, of every place, and by everybody.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Kind, type KindName, kindNames, kinds } from "./kinds.ts";
import type { Caller, Question } from "./model.ts";
import { aliases, artifacts, authors, digests, names, tagNames } from "./writes.ts";

/** Uids that filters name, which stay. */
export interface Places {
  readonly root: string;
  readonly group: string;
  readonly below: string;
  readonly repo: string;
  readonly provider: string;
  readonly role: string;
  readonly identity: string;
  /** A time in the middle of the test. */
  readonly since: string;
}

/** The kinds that a list shows along with a resource. */
const along: Partial<Readonly<Record<KindName, readonly KindName[]>>> = {
  groups: ["role_bindings"],
  identities: ["role_bindings"],
  identity_providers: ["external_group_role_mappings"],
  repos: ["tags"],
};

/** Returns a list request of each caller, for the changed resource and every kind that the change affects. */
export function plainQuestions(changed: KindName, callers: readonly Caller[]): Question[] {
  const changesAccess = changed === "roles" || changed === "role_bindings";
  const names = changesAccess ? kindNames : [changed, ...(along[changed] ?? [])];
  return names.flatMap((name) => callers.map((caller) => ({ caller, name, request: {} })));
}

/** Returns the list requests with orders, filters and pages for one kind of resource. */
export function specialQuestions(name: KindName, owner: Caller, others: readonly Caller[], places: Places): Question[] {
  const kind: Kind = kinds[name];
  const orders = Object.keys(kind.orders).flatMap((field) => [{ orderBy: field }, { orderBy: `${field} desc` }]);
  const filters = filtersOf(name, places);
  const narrow = orders.map((order, i) => ({ ...order, pageSize: 1 + (i % 4), skip: i % 3 }));
  const mixed = filters.map((filter, i) => ({ ...filter, ...orders[i % orders.length], pageSize: 2 }));
  const requests: JsonObject[] = [...orders, ...narrow, ...filters, ...mixed];
  return [
    ...requests.map((request) => ({ caller: owner, name, request })),
    ...others.map((caller, i) => ({ caller, name, request: { ...orders[i % orders.length], pageSize: 3 } })),
  ];
}

function filtersOf(name: KindName, { root, group, below, ...places }: Places): JsonObject[] {
  const { repo, provider, role, identity, since } = places;
  const own: Partial<Record<KindName, JsonObject[]>> = {
    role_bindings: [{ group }, { role }, { identity }, { group, role }],
    external_group_role_mappings: [{ identityProviderUid: provider }],
    tags: [
      { digest: digests[0]! },
      { digest: digests[1]! },
      { name: tagNames[0]! },
      { includeReferrers: true },
      { includeDates: true, includeEpochs: true },
      { includeEpochs: true, uidp: { childrenOf: repo } },
      { includeReferrers: true, includeDates: true, includeEpochs: true },
      { updatedSince: since },
    ],
    advisories: [
      ...authors.flatMap((author) => [{ eventAuthors: [author] }, { excludeEventAuthors: [author] }]),
      ...artifacts.flatMap((artifact) => [{ artifactNames: [artifact] }, { query: artifact }]),
      { aliases: [aliases[1]!] },
      { aliases: [...aliases] },
      { query: "cve-2026-0002" },
      { query: "_%" },
      { eventAuthors: authors.slice(0, 2), eventReviewStates: [1] },
      { eventAuthors: ["ann"], query: "c" },
    ],
  };
  const hasName = kinds[name].orders !== kinds.subscriptions.orders && name !== "tags" && name !== "advisories";
  return [
    ...[{ descendantsOf: root }, { descendantsOf: group }, { childrenOf: root }, { childrenOf: group }].map(placed),
    ...[{ inRoot: true }, { ancestorsOf: below }, { ids: [root, group, below, repo] }].map(placed),
    ...(hasName ? names.slice(0, 3).map((text) => ({ name: text })) : []),
    ...(own[name] ?? []),
  ];
}

function placed(uidp: JsonObject): JsonObject {
  return { uidp };
}
