// The kinds of resources that fields let a reader choose by name.
import { ResourceKind } from "../../../gen/gatehouse/search/v1/search_pb.ts";

/** The kinds, and what the search calls them. Identities are workloads and people. */
export const searchKinds = {
  group: [ResourceKind.GROUP],
  identity: [ResourceKind.PERSON, ResourceKind.IDENTITY],
  role: [ResourceKind.ROLE],
  repo: [ResourceKind.REPO],
  tag: [ResourceKind.TAG],
  identityProvider: [ResourceKind.IDENTITY_PROVIDER],
  subscription: [ResourceKind.SUBSCRIPTION],
  advisory: [ResourceKind.ADVISORY],
} as const satisfies Readonly<Record<string, readonly ResourceKind[]>>;

export type NamedKind = keyof typeof searchKinds;
