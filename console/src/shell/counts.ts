// What is in a group and its subgroups, by kind.
import { useQuery } from "@connectrpc/connect-query";
import { type GroupContents, GroupTreeService } from "../../../gen/gatehouse/iam/v1/group_tree_pb.ts";

/** The kinds in the order in which views show them, with the views that list them. */
export const kinds = {
  groups: "/o/$org/groups/$",
  identities: "/o/$org/workloads/$",
  role_bindings: "/o/$org/access",
  roles: "/o/$org/roles/$",
  access_request_rules: "/o/$org/requests/$",
  access_requests: "/o/$org/requests/$",
  group_invites: "/o/$org/sign-in/$",
  identity_providers: "/o/$org/sign-in/$",
  external_group_role_mappings: "/o/$org/sign-in/$",
  account_associations: "/o/$org/sign-in/$",
  repos: "/o/$org/registry/$",
  tags: "/o/$org/registry/$",
  advisories: "/o/$org/advisories/$",
  subscriptions: "/o/$org/events/$",
} as const;

/** The name of a kind. */
export type Kind = keyof typeof kinds;

/** Whether this page knows a kind: the server may be newer. */
export function isKind(kind: string): kind is Kind {
  return Object.hasOwn(kinds, kind);
}

/** Reads what is in a group, as far as the caller may list it, and what stands in the way of deleting it. Undefined while it is read. */
export function useContents(uid: string): GroupContents | undefined {
  const request = { groupUids: [uid], showDeletionObstacles: true };
  return useQuery(GroupTreeService.method.countGroupContents, request).data?.groups[0];
}
