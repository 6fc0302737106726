// Says what resources of a file refer to that is neither stored nor wanted.
import type { FieldViolation } from "../../aip/errors.ts";
import type { Names } from "./names.ts";
import type { KindName } from "./spec.ts";

/** Returns the problems with a reference to a role from a group. */
export function missingRole(field: string, reference: string, group: string, names: Names): readonly FieldViolation[] {
  const role = names.findRole(group, reference);
  if (role && !names.isAmbiguous("role", role.path)) return [];
  const description = `${shown(reference)} is neither a built-in role nor a role of the group or an ancestor`;
  return [{ field, description }];
}

/** Returns the problems with the path of a resource of a kind. */
export function missingTarget(field: string, kind: KindName, path: string, names: Names): readonly FieldViolation[] {
  return names.find(kind, path) ? [] : [{ field, description: `${shown(path)} does not exist` }];
}

/** Returns a text for a description. */
export function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
