// Reads where an identity holds which roles, by WhatCan.
import { AccessService, type HeldRole } from "../../gen/gatehouse/access/v1/access_pb.ts";
import { resourceExhausted } from "../aip/errors.ts";
import { maxPageSize } from "../aip/pagination.ts";
import type { Asker } from "./asker.ts";

/** The most role bindings that a search looks through, and the most places that a list names. */
const maxRoleBindings = 1_000;

/** The roles to read. */
interface HeldQuery {
  readonly identity: string;
  readonly capability?: string;
  readonly group?: string;
}

/** Returns the roles that an identity holds, those of a session of the client among them, as far as the client may see them. */
export async function heldRoles(asker: Asker, query: HeldQuery): Promise<HeldRole[]> {
  const roles: HeldRole[] = [];
  let pageToken = "";
  do {
    const page = await asker.invoke(AccessService.method.whatCan, { ...query, pageSize: maxPageSize, pageToken });
    roles.push(...page.roles, ...page.mappedRoles);
    pageToken = page.nextPageToken;
    if (roles.length > maxRoleBindings || (pageToken !== "" && roles.length === maxRoleBindings))
      throw resourceExhausted(`a search looks through ${maxRoleBindings} role bindings of a subject; there are more`);
  } while (pageToken !== "");
  return roles;
}

/** Returns the subtrees in which an identity holds a capability and the client may ask about it. None is within another. */
export async function heldPlaces(asker: Asker, identity: string, capability: string): Promise<readonly string[]> {
  const roles = await heldRoles(asker, { identity, capability });
  return asker.askable(
    identity,
    roles.flatMap(({ effectiveGroupUids }) => effectiveGroupUids),
  );
}
