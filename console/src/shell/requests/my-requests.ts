// The access requests of the caller, those that wait for their decision, and what they may request.
import { useQuery } from "@connectrpc/connect-query";
import {
  type AccessRequest,
  AccessRequestsService,
  type ListMyAccessRequestsResponse,
  type RequestableRole,
} from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { isAtOrAbove, useMe } from "../../api/access.ts";
import { minuteMs } from "../../api/durations.ts";

const { listMyAccessRequests, listRequestableRoles } = AccessRequestsService.method;

/** How often requests are read again, in milliseconds: the server looks through those of whole organizations. Live changes come at once. */
const everyMs = minuteMs;

/** The requests of the caller, and those that wait for their decision. */
export function useMyRequests() {
  const { data: me } = useMe();
  return useQuery(listMyAccessRequests, {}, { enabled: me !== undefined, refetchInterval: everyMs });
}

/** The roles that the caller may request at a group; anywhere if it is empty. */
export function useRequestable(group: string) {
  const { data: me } = useMe();
  return useQuery(listRequestableRoles, { group }, { enabled: me !== undefined, refetchInterval: false });
}

/** Sorts roles that can be requested by their names and places. Of several rules, the one with the fewest approvals comes first. */
export function sortRequestable(roles: readonly RequestableRole[]): readonly RequestableRole[] {
  return roles.toSorted(
    (a, b) =>
      a.roleName.localeCompare(b.roleName) ||
      a.groupName.localeCompare(b.groupName) ||
      a.requiredApprovals - b.requiredApprovals,
  );
}

/** Returns the requests, or the roles that can be requested, of an organization; all if it is empty. */
export function within<T extends Pick<AccessRequest | RequestableRole, "groupUid">>(
  org: string,
  all: readonly T[] | undefined,
): readonly T[] | undefined {
  return org === "" ? all : all?.filter(({ groupUid }) => isAtOrAbove(org, groupUid));
}

/** Returns the requests that wait for the caller: break-glass to acknowledge, and requests to decide. */
export function waitingIn(data: ListMyAccessRequestsResponse | undefined): readonly AccessRequest[] | undefined {
  return data && [...data.toAcknowledge, ...data.toDecide];
}

/** Returns the uid of the organization of a request. */
export function organizationOf({ groupUid }: Pick<AccessRequest, "groupUid">): string {
  return groupUid.split("/", 1)[0]!;
}
