// Resources as they are sent, and which of their attributes a client asks for (RFC 7644 §3.9).
import { isJsonObject } from "../base/json.ts";
import type { ScimGroupRow, ScimMembership } from "../storage/iam/scim-groups.ts";
import type { ScimUserRow } from "../storage/iam/scim-users.ts";
import { enterpriseSchema, groupSchema, schemas, userSchema } from "./schemas.ts";

/** A resource as it is sent. */
export type ScimResource = Readonly<Record<string, unknown>> & { readonly id: string };

/** The attributes to send: only these, or all but these; names in lower case. */
export interface Projection {
  readonly only: readonly string[] | undefined;
  readonly without: readonly string[];
}

/** Returns the id of a resource: the last segment of its uid. */
export function idOf(uid: string): string {
  return uid.slice(-16);
}

/** Whether a text can be the id of a resource. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text);
}

/** Returns the entity tag of a version. Weak: attributes that a client leaves out do not change it. */
export function etagOf({ version }: { readonly version: number }): string {
  return `W/"${version}"`;
}

/** Returns a user. `endpoint` is the base URL of the provider. */
export function userJson(row: ScimUserRow, groups: readonly ScimMembership[], endpoint: string): ScimResource {
  const { attributes } = row;
  const hasExtension = Object.hasOwn(attributes, enterpriseSchema.id);
  return {
    schemas: [userSchema.id, ...(hasExtension ? [enterpriseSchema.id] : [])],
    id: idOf(row.uid),
    ...attributes,
    ...(groups.length > 0 && {
      groups: groups.map(({ groupUid, groupName }) => ({
        value: idOf(groupUid),
        $ref: `${endpoint}/Groups/${idOf(groupUid)}`,
        display: groupName,
        type: "direct",
      })),
    }),
    meta: metaOf("User", row, `${endpoint}/Users/${idOf(row.uid)}`),
  };
}

/** Returns a group with these members. */
export function groupJson(row: ScimGroupRow, members: readonly ScimMembership[], endpoint: string): ScimResource {
  return {
    schemas: [groupSchema.id],
    id: idOf(row.uid),
    ...(row.externalId !== null && { externalId: row.externalId }),
    displayName: row.displayName,
    ...(members.length > 0 && {
      members: members.map(({ userUid }) => ({
        value: idOf(userUid),
        $ref: `${endpoint}/Users/${idOf(userUid)}`,
      })),
    }),
    meta: metaOf("Group", row, `${endpoint}/Groups/${idOf(row.uid)}`),
  };
}

function metaOf(resourceType: string, row: ScimUserRow | ScimGroupRow, location: string) {
  const [created, lastModified] = [row.createTime, row.updateTime].map((time) => new Date(time).toISOString());
  return { resourceType, created, lastModified, location, version: etagOf(row) };
}

/** Whether an attribute is sent. Names are in lower case. */
export function isSent({ only, without }: Projection, name: string): boolean {
  if (without.includes(name)) return false;
  return !only || only.some((each) => each === name || each.startsWith(`${name}.`));
}

/** Returns the part of a resource that a client asks for. */
export function project(resource: ScimResource, { only, without }: Projection): object {
  if (!only && without.length === 0) return resource;
  const names = { only: only?.map(withoutSchema), without: without.map(withoutSchema) };
  // RFC 7643 §3.1: the id is always returned; without `schemas` a client cannot read the rest.
  return { schemas: resource.schemas, id: resource.id, ...(choose(resource, names, "") as object) };
}

function choose(value: unknown, names: Projection, path: string): unknown {
  if (Array.isArray(value)) return value.map((each) => choose(each, names, path));
  if (!isJsonObject(value)) return value;
  const chosen = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    const name = path + key.toLowerCase();
    if (names.without.includes(name)) return [];
    if (!names.only || names.only.includes(name))
      return [[key, choose(each, { ...names, only: undefined }, `${name}.`)]];
    return names.only.some((wanted) => wanted.startsWith(`${name}.`)) ? [[key, choose(each, names, `${name}.`)]] : [];
  });
  return Object.fromEntries(chosen);
}

/** Removes the name of a core schema, and separates that of the extension from its attribute like any other name. */
function withoutSchema(name: string): string {
  for (const { id } of schemas) {
    const prefix = `${id.toLowerCase()}:`;
    if (name.startsWith(prefix))
      return id === enterpriseSchema.id ? name.replace(prefix, `${prefix.slice(0, -1)}.`) : name.slice(prefix.length);
  }
  return name;
}
