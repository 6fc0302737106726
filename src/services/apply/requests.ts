// The requests of the methods that create, update and delete a resource of an apply.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { AnySpec, KindName, Uids } from "../kinds/spec.ts";
import { kindNamed } from "./kinds.ts";
import { groupOf } from "./wanted.ts";

/** A request of a method, which creates, updates or deletes a resource. */
export interface Operation {
  readonly method: DescMethodUnary;
  readonly request: object;
}

/** Returns the request that creates a resource. */
export function creation(resource: AnySpec, uids: Uids): Operation {
  const { methods, requestField, file } = kindNamed(resource.case);
  const parent = file.parentOf?.(resource.value, uids) ?? uids.group(groupOf(resource));
  return { method: methods.create, request: { parent, [requestField]: file.toMessage(resource.value, uids, true) } };
}

/** Returns the request that updates these fields of a resource; undefined if its own method sets none of them. */
export function update(resource: AnySpec, uid: string, fields: readonly string[], uids: Uids): Operation | undefined {
  const { methods, requestField, file } = kindNamed(resource.case);
  if (!methods.update) throw new Error(`a resource of the kind ${resource.case} has no update`);
  const own = fields.filter((field) => field !== file.part?.field);
  if (own.length === 0) return undefined;
  const paths = own.map((field) => file.maskPaths?.[field] ?? field);
  const hasSecret = file.secret !== undefined && fields.includes(file.secret.field);
  const value = { ...file.toMessage(resource.value, uids, hasSecret), uid };
  return { method: methods.update, request: { [requestField]: value, updateMask: { paths } } };
}

/**
 * Returns the request that sets the separate part of a resource, after the creation or the update of these fields; undefined if the file
 * has none, or if it is set already.
 */
export function settingOfPart(
  resource: AnySpec,
  uid: string,
  fields: readonly string[] | "all",
): Operation | undefined {
  const { part } = kindNamed(resource.case).file;
  if (!part || Reflect.get(resource.value, part.field) === undefined) return undefined;
  const isSet = fields !== "all" && !fields.some((field) => field === part.field || part.affectedBy.includes(field));
  return isSet ? undefined : { method: part.method, request: part.request(resource.value, uid) };
}

/** Returns the request that deletes a resource. */
export function deletion(kind: KindName, uid: string): Operation {
  return { method: kindNamed(kind).methods.delete, request: { uid } };
}
