// Users (RFC 7643 §4.1): the people of an identity provider.
import { compareTexts } from "../base/compare-texts.ts";
import type { JsonObject } from "../base/json.ts";
import { newChild } from "../model/uid.ts";
import { changeUser, identityOf } from "../services/iam/provisioning/suspensions.ts";
import { scimUserKind } from "../services/iam/provisioning/views.ts";
import { UniqueViolation } from "../storage/engine/errors.ts";
import type { Session, Transaction } from "../storage/engine/session.ts";
import { isProviderMember } from "../storage/iam/providers.ts";
import { findScimMemberships } from "../storage/iam/scim-groups.ts";
import {
  countScimUsers,
  deleteScimUser,
  findScimUser,
  insertScimUser,
  listScimUsers,
  type ScimUserRow,
  updateScimUser,
} from "../storage/iam/scim-users.ts";
import { type Attributes, readUser } from "./attributes.ts";
import { scimLimits } from "./limits.ts";
import { listResources } from "./list.ts";
import { patchUser, readOperations } from "./patch.ts";
import {
  noContent,
  type ResourceHandlers,
  readResource,
  requireMatch,
  resourceResponse,
  type ScimRequest,
  uidOf,
} from "./request.ts";
import { userJson } from "./resource-json.ts";
import { userSchema } from "./schemas.ts";
import { resourceNotFound, scimError } from "./scim-error.ts";

/** The methods of users. */
export const users: ResourceHandlers = {
  list: (request, range) =>
    listResources(request, range, {
      columns: ["uid", "userNameKey", "displayNameKey", "externalId", "isActive", "updateTime"],
      list: listScimUsers,
      count: countScimUsers,
      memberships: { attribute: "groups", column: "userUid" },
      show: userJson,
    }),

  get: async (request, id) => await respond(request, 200, await requireUser(request.session, request, id)),

  async create(request) {
    const attributes = readUser(readResource(request, userSchema.id));
    const row = await writeUser(request, async (tx) => {
      const { provider } = request;
      const counted = { providerUid: provider.uid, condition: undefined };
      if ((await countScimUsers(tx, counted)) >= scimLimits.users)
        throw scimError("tooMany", `an identity provider must not have more than ${scimLimits.users} users`);
      const created = await rowOf(tx, request, undefined, attributes);
      await store(tx, request, undefined, created, () => insertScimUser(tx, created));
      return created;
    });
    return await respond(request, 201, row);
  },

  replace: (request, id) => {
    const attributes = readUser(readResource(request, userSchema.id));
    // RFC 7644 §3.5.1 leaves open what an omitted attribute means. Okta omits externalId, which says who signs in as the user, and
    // silence must not activate a person.
    return change(request, id, ({ externalId, isActive }) => ({
      ...(externalId !== null && { externalId }),
      active: isActive,
      ...attributes,
    }));
  },

  patch: (request, id) => {
    const operations = readOperations(request.json());
    return change(request, id, (before) => patchUser(before.attributes, operations));
  },

  async remove(request, id) {
    await request.write(async (tx) => {
      const before = await requireUser(tx, request, id);
      requireMatch(request, before);
      await store(tx, request, before, undefined, () => deleteScimUser(tx, before));
    });
    return noContent;
  },
};

/** Changes a user, and returns the response with it. */
async function change(request: ScimRequest, id: string, attributesOf: (before: ScimUserRow) => Attributes) {
  const row = await writeUser(request, async (tx) => {
    const before = await requireUser(tx, request, id);
    requireMatch(request, before);
    const after = await rowOf(tx, request, before, attributesOf(before));
    if (JSON.stringify(after.attributes) === JSON.stringify(before.attributes)) return before;
    await store(tx, request, before, after, () => updateScimUser(tx, before, after));
    return after;
  });
  return await respond(request, 200, row);
}

/** Runs a write, and names the rule that a row breaks which another user of the provider has already. */
async function writeUser<T>(request: ScimRequest, body: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    return await request.write(body);
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw scimError("uniqueness", "another user of the identity provider has this userName or this externalId");
  }
}

/** Returns the row of a user with these attributes. */
async function rowOf(
  tx: Transaction,
  { provider }: ScimRequest,
  before: ScimUserRow | undefined,
  given: Attributes,
): Promise<ScimUserRow> {
  const { userName, displayName = "" } = given as Record<string, string | undefined>;
  if (!userName?.trim()) throw scimError("invalidValue", "userName: is required");
  const { time } = tx.context;
  const externalId = (given.externalId as string | undefined) || null;
  const isActive = (given.active as boolean | undefined) ?? before?.isActive ?? true;
  const attributes = sorted(before ? given : { ...given, active: isActive });
  requireSmall(attributes);
  const identityUid = identityOf(provider, before, externalId);
  return {
    uid: before?.uid ?? newChild(provider.uid),
    providerUid: provider.uid,
    userNameKey: userName.toLowerCase(),
    displayNameKey: displayName.toLowerCase(),
    externalId,
    isActive,
    identityUid,
    signInTime: await signInTimeOf(tx, provider.uid, before, identityUid),
    attributes,
    version: (before?.version ?? 0) + 1,
    createTime: before?.createTime ?? time,
    updateTime: Math.max(time, before?.updateTime ?? 0),
  };
}

function requireSmall(attributes: JsonObject): void {
  if (JSON.stringify(attributes).length > scimLimits.userLength)
    throw scimError(
      "tooMany",
      `the attributes of a user must not be longer than ${scimLimits.userLength} characters of JSON`,
    );
}

/** A person who signed in by the provider before they were provisioned need not sign in again. */
async function signInTimeOf(
  tx: Transaction,
  providerUid: string,
  before: ScimUserRow | undefined,
  identityUid: string | null,
): Promise<number | null> {
  if (identityUid === null) return null;
  if (before?.identityUid === identityUid && before.signInTime !== null) return before.signInTime;
  return (await isProviderMember(tx, providerUid, identityUid)) ? tx.context.time : null;
}

/** Returns the attributes in the order of their names: an unchanged resource is then stored as the same text. */
function sorted(attributes: Attributes): JsonObject {
  return Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => compareTexts(a, b)));
}

/** Writes a change of a user, with its consequences. */
async function store(
  tx: Transaction,
  { provider }: ScimRequest,
  before: ScimUserRow | undefined,
  after: ScimUserRow | undefined,
  write: () => Promise<void>,
): Promise<void> {
  await changeUser(tx, before, after, write);
  const { uid } = (after ?? before)!;
  tx.logChange({ kind: scimUserKind, uid, groupUid: provider.parent, before: logged(before), after: logged(after) });
}

/** The audit log names people, but does not repeat everything that is known of them. */
function logged(row: ScimUserRow | undefined): object | null {
  if (!row) return null;
  const { uid, externalId, isActive, attributes } = row;
  const { userName, displayName } = attributes;
  return { uid, userName, displayName, externalId: externalId ?? undefined, active: isActive };
}

async function requireUser(session: Session, request: ScimRequest, id: string): Promise<ScimUserRow> {
  const row = await findScimUser(session, uidOf(request, id));
  if (!row) throw resourceNotFound(id);
  return row;
}

async function respond(request: ScimRequest, status: number, row: ScimUserRow) {
  const groups = await findScimMemberships(request.session, "userUid", [row.uid], scimLimits.groups);
  return resourceResponse(request, status, row, userJson(row, groups, request.endpoint));
}
