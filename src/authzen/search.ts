// The Search APIs (Authorization API 1.0 §8), which answer by the lists of the API.
import { AccessService } from "../../gen/gatehouse/access/v1/access_pb.ts";
import { findCapabilityByName } from "../model/capabilities.ts";
import { isUid, isWithin } from "../model/uid.ts";
import type { Asker } from "./asker.ts";
import { existing, findUid, isResourceType, isSubject, isSubjectType } from "./entities.ts";
import { heldPlaces, heldRoles } from "./held.ts";
import { readPage, type SearchPage, wholePage } from "./page.ts";
import { type Entity, type Members, readAction, readContext, readEntity, readType } from "./request.ts";
import { listResources } from "./resources.ts";

const nothing = wholePage([]);

/** Finds the subjects of a type that may perform an action on a resource: by WhoCan. A page may have fewer than its limit. */
export async function searchSubjects(body: Members, asker: Asker): Promise<SearchPage> {
  readContext(body);
  const type = readType(body, "subject");
  const capability = readAction(body);
  const resource = readEntity(body, "resource");
  const { limit: pageSize, token: pageToken } = readPage(body);
  if (!isSubjectType(type) || !findCapabilityByName(capability)) return nothing;
  // The subjects of a list are others.
  const group = await findAskable(asker, "", resource);
  if (group === undefined) return nothing;
  const found = await asker.invoke(AccessService.method.whoCan, { group, capability, pageSize, pageToken });
  const uids = found.identities.map(({ identity }) => identity?.uid ?? "").filter((uid) => isSubject(type, uid));
  const total = type === "identity" ? { total: Number(found.totalCount) } : {};
  const unlisted = found.unlistedGroupUids;
  return {
    page: { next_token: found.nextPageToken, count: uids.length, ...total },
    // Role bindings at these groups, which the client may not list, may give others access.
    ...(unlisted.length > 0 && { context: { unlisted_group_uids: unlisted } }),
    results: uids.map((id) => ({ type, id })),
  };
}

/** Finds the resources of a type on which a subject may perform an action: those that the client may list where WhatCan says so. */
export async function searchResources(body: Members, asker: Asker): Promise<SearchPage> {
  readContext(body);
  const subject = readEntity(body, "subject");
  const action = readAction(body);
  const type = readType(body, "resource");
  const page = readPage(body);
  if (!isResourceType(type) || !findCapabilityByName(action) || !isKnownSubject(subject)) return nothing;
  const places = await heldPlaces(asker, subject.id, action);
  if (places.length === 0) return nothing;
  const { uids, next } = await listResources(asker, type, places, [subject.id, action], page);
  return { page: { next_token: next, count: uids.length }, results: uids.map((id) => ({ type, id })) };
}

/** Finds the actions that a subject may perform on a resource: by WhatCan. They are one page, of fewer than 300 names. */
export async function searchActions(body: Members, asker: Asker): Promise<SearchPage> {
  readContext(body);
  const subject = readEntity(body, "subject");
  const resource = readEntity(body, "resource");
  readPage(body);
  if (!isKnownSubject(subject)) return nothing;
  const group = await findAskable(asker, subject.id, resource);
  if (group === undefined) return nothing;
  const roles = await heldRoles(asker, { identity: subject.id, group });
  const names = roles
    .filter(({ effectiveGroupUids }) => effectiveGroupUids.some((place) => isWithin(group, place)))
    .flatMap(({ capabilities }) => capabilities);
  return wholePage([...new Set(names)].sort().map((name) => ({ name })));
}

function isKnownSubject({ type, id }: Entity): boolean {
  return isUid(id) && isSubject(type, id);
}

/** Returns the uid of a resource that exists, at which the client may ask about an identity; undefined if there is none. */
async function findAskable(asker: Asker, identity: string, resource: Entity): Promise<string | undefined> {
  const { type } = resource;
  if (!isResourceType(type)) return undefined;
  const uid = await findUid(asker, resource);
  // May ask comes first: a denial says nothing about existence.
  if (uid === undefined || !asker.mayAsk(identity, uid)) return undefined;
  return (await existing(asker, type, [uid])).has(uid) ? uid : undefined;
}
