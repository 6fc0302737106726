// How much of each kind is in a group and its subgroups: the totals of the lists that the caller may read.
import { create } from "@bufbuild/protobuf";
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import { SubscriptionsService } from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { ReposService } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { AdvisoriesService } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { may, useMe } from "../api/access.ts";

/** The kinds, in the order in which views show them. */
export const kinds = [
  { kind: "groups", method: GroupsService.method.listGroups },
  { kind: "identities", method: IdentitiesService.method.listIdentities },
  { kind: "bindings", method: RoleBindingsService.method.listRoleBindings },
  { kind: "roles", method: RolesService.method.listRoles },
  { kind: "repos", method: ReposService.method.listRepos },
  { kind: "advisories", method: AdvisoriesService.method.listAdvisories },
  { kind: "subscriptions", method: SubscriptionsService.method.listSubscriptions },
] as const;

/** The name of a kind. */
export type Kind = (typeof kinds)[number]["kind"];

/** How much there is of a kind; undefined while it is read. */
export interface Count {
  readonly kind: Kind;
  readonly count: number | undefined;
}

/** Counts the kinds that the caller may list in a group. */
export function useCounts(uid: string): readonly Count[] {
  const { data: me } = useMe();
  const transport = useTransport();
  const allowed = kinds.filter(({ method }) => may(me, method, uid));
  const uidp = create(UIDPFilterSchema, { descendantsOf: uid });
  const results = useQueries({
    queries: allowed.map(({ method }) =>
      createQueryOptions(method as typeof GroupsService.method.listGroups, { uidp, pageSize: 1 }, { transport }),
    ),
  });
  return allowed.map(({ kind }, index) => {
    const total = results[index]?.data?.totalCount;
    return { kind, count: total === undefined ? undefined : Number(total) };
  });
}
