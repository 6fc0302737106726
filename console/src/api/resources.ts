// Names of groups, identities and roles, and what a search for one of them finds.
import { create } from "@bufbuild/protobuf";
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { may, useMe } from "./access.ts";
import { isUid } from "./uids.ts";

/** A kind of resource with a name. */
export type NamedKind = "group" | "identity" | "role";

/** A resource with its name. */
export interface Named {
  readonly uid: string;
  readonly name: string;
}

/** Lists have the same fields in the requests of all three kinds. */
const lists = {
  group: { method: GroupsService.method.listGroups, rows: "groups" },
  identity: { method: IdentitiesService.method.listIdentities, rows: "identities" },
  role: { method: RolesService.method.listRoles, rows: "roles" },
} as const;

/** The most ids that one list takes. */
const batchSize = 100;

/** Returns the names of resources by uid. Those that the caller may not see are missing. */
export function useNames(kind: NamedKind, uids: readonly string[]): ReadonlyMap<string, string> {
  const ids = [...new Set(uids)]
    .filter((uid) => uid !== "")
    .sort()
    .slice(0, batchSize);
  const { data } = useListed(kind, { ids }, {}, ids.length > 0);
  return new Map(data?.map(({ uid, name }) => [uid, name]));
}

/** How many candidates a picker shows. */
const candidateCount = 20;

/** Returns what a picker offers for a typed text: a name or a uid. Undefined while it is read. */
export function useCandidates(kind: NamedKind, within: string, typed: string): readonly Named[] | undefined {
  const filter = isUid(typed) ? { ids: [typed] } : kind === "role" ? {} : { descendantsOf: within };
  const request = typed === "" || isUid(typed) ? {} : { name: typed };
  const { data, isError } = useListed(kind, filter, { ...request, orderBy: "name", pageSize: candidateCount }, true);
  return isError ? [] : data;
}

function useListed(
  kind: NamedKind,
  uidp: { readonly ids?: string[]; readonly descendantsOf?: string },
  request: { readonly name?: string; readonly orderBy?: string; readonly pageSize?: number },
  isEnabled: boolean,
) {
  const { data: me } = useMe();
  const transport = useTransport();
  const { method, rows } = lists[kind];
  const options = createQueryOptions(
    method as typeof GroupsService.method.listGroups,
    { pageSize: batchSize, ...request, uidp: create(UIDPFilterSchema, uidp) },
    { transport },
  );
  return useQuery({
    ...options,
    enabled: isEnabled && may(me, method),
    select: (response) => (response as unknown as Readonly<Record<typeof rows, readonly Named[]>>)[rows],
  });
}
