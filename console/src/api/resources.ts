// Names of groups, identities and roles, and what a search for one of them finds.
import { create } from "@bufbuild/protobuf";
import { createQueryOptions, useQuery as useRpcQuery, useTransport } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { ResourceKind, SearchService } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { may, useMe } from "./access.ts";

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

const searchedKinds = {
  group: ResourceKind.GROUP,
  identity: ResourceKind.IDENTITY,
  role: ResourceKind.ROLE,
} as const;

/** Returns what a picker offers for a typed text, the beginning of a name or a uid. Undefined while it is read. */
export function useCandidates(kind: NamedKind, within: string, typed: string): readonly Named[] | undefined {
  const isSearch = typed !== "";
  const first = useListed(
    kind,
    kind === "role" ? {} : { descendantsOf: within },
    { orderBy: "name", pageSize: candidateCount },
    !isSearch,
  );
  const request = { parent: within, query: typed, kinds: [searchedKinds[kind]], pageSize: candidateCount };
  const found = useRpcQuery(SearchService.method.search, request, { enabled: isSearch && within !== "" });
  if (isSearch) return found.isError ? [] : found.data?.resources;
  return first.isError ? [] : first.data;
}

function useListed(
  kind: NamedKind,
  uidp: { readonly ids?: string[]; readonly descendantsOf?: string },
  request: { readonly orderBy?: string; readonly pageSize?: number },
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
