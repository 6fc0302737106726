import { Roles } from "../../gen/chainguard/platform/iam/v1/roles_pb.ts";
import { RolesService } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { type FieldViolation, invalidArgument } from "../aip/errors.ts";
import { clip } from "../base/clip.ts";
import { findCapabilityByName, namesOfNumbers } from "../model/capabilities.ts";
import { passThrough, putAsUpdate, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import type { FieldNames } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, current] = [Roles.method, RolesService.method];

/** Names of role fields, also in nested roles. Version 1 has capabilities by friendly names. */
export const roleNames: FieldNames = {
  capabilities: {
    current: "capabilities",
    toCurrent: capabilityNumbers,
    toV1: namesOfNumbers,
  },
};

/** Serves roles in version 1. */
export function roles(api: CurrentApi): V1Implementation {
  return serve(Roles, {
    create: passThrough(api, v1.create, current.createRole, { names: roleNames }),
    update: putAsUpdate(api, v1.update, current.updateRole, { names: roleNames }),
    list: list(api, v1.list, current.listRoles, {
      itemNames: roleNames,
      places: { id: "ids", parent: "children_of" },
    }),
    delete: passThrough(api, v1.delete, current.deleteRole),
  });
}

function capabilityNumbers(names: readonly string[]): number[] {
  const violations: FieldViolation[] = [];
  const numbers = names.flatMap((name, i) => {
    const known = findCapabilityByName(name);
    const description = `${JSON.stringify(clip(name))} is not a capability`;
    if (!known) violations.push({ field: `capabilities[${i}]`, description });
    return known?.number ?? [];
  });
  if (violations.length > 0) throw invalidArgument(violations);
  return numbers;
}
