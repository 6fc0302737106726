// The kinds of resources that have names, and who may read them.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { ResourceKind } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import type { Collection, ResourceRow } from "../../storage/collection/collection.ts";
import { subscriptionCollection } from "../../storage/events/rows.ts";
import {
  groupCollection,
  identityCollection,
  identityProviderCollection,
  roleCollection,
} from "../../storage/iam/collections.ts";
import { sinkHost } from "../../storage/names/word-sources.ts";
import { repoCollection, tagCollection } from "../../storage/registry/rows.ts";
import { advisoryCollection } from "../../storage/vulnerabilities/rows.ts";

/** A kind of resources below a group, who may list it, and what its rows are called. */
export interface NamedKind {
  readonly kind: ResourceKind;
  readonly capability: Capability;
  readonly collection: Collection<ResourceRow>;
  /** Whether rows without a parent are shown wherever the caller may list the kind: built-in roles. */
  readonly hasBuiltIn: boolean;
  nameOf(row: ResourceRow): string;
}

function named<R extends ResourceRow>(
  kind: ResourceKind,
  capability: Capability,
  collection: Collection<R>,
  { nameOf = ({ name = "" }: ResourceRow) => name, hasBuiltIn = false } = {},
): NamedKind {
  return { kind, capability, collection: collection as unknown as Collection<ResourceRow>, nameOf, hasBuiltIn };
}

/** Groups. */
export const namedGroups = named(ResourceKind.GROUP, Capability.CAP_IAM_GROUPS_LIST, groupCollection);

/** Repos. */
export const namedRepos = named(ResourceKind.REPO, Capability.CAP_REPO_LIST, repoCollection);

/** Advisories. */
export const namedAdvisories = named(ResourceKind.ADVISORY, Capability.CAP_ADVISORIES_LIST, advisoryCollection);

/** Tags. */
export const namedTags = named(ResourceKind.TAG, Capability.CAP_TAG_LIST, tagCollection);

/** Subscriptions, which are called by the host of their sink: its path may be a secret. */
export const namedSubscriptions = named(
  ResourceKind.SUBSCRIPTION,
  Capability.CAP_EVENTS_SUBSCRIPTION_LIST,
  subscriptionCollection,
  { nameOf: ({ sink = "" }) => sinkHost(sink) },
);

/** All kinds, in the order of search results. */
export const namedKinds: readonly NamedKind[] = [
  namedGroups,
  named(ResourceKind.IDENTITY, Capability.CAP_IAM_IDENTITY_LIST, identityCollection),
  named(ResourceKind.ROLE, Capability.CAP_IAM_ROLES_LIST, roleCollection, { hasBuiltIn: true }),
  named(ResourceKind.IDENTITY_PROVIDER, Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST, identityProviderCollection),
  namedRepos,
  namedTags,
  namedAdvisories,
  namedSubscriptions,
];
