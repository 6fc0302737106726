// The roles of a person or workload in the organization, as far as the caller may list them.
import { useQuery } from "@connectrpc/connect-query";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { holds, useMe } from "../../api/access.ts";
import { pageSize } from "../pager.tsx";

const { whatCan } = AccessService.method;

/** Reads the first roles. `mayList` says whether the caller sees any: their own, or those of a group where they may list role bindings. */
export function useHeldRoles(org: string, identity: string) {
  const { data: me } = useMe();
  const mayList = me?.subject === identity || holds(me, "role_bindings.list", org);
  const request = { identity, group: org, pageSize, skip: 0 };
  const { data } = useQuery(whatCan, request, { enabled: mayList });
  const roles = data && [...data.mappedRoles, ...data.roles];
  return { roles, mayList };
}
