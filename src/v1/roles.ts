import { Roles } from "../../gen/chainguard/platform/iam/v1/roles_pb.ts";
import { RolesService } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { clip } from "../aip/clip.ts";
import { type FieldViolation, invalidArgument } from "../aip/errors.ts";
import { findCapabilityByName, namesOfNumbers } from "../model/capabilities.ts";
import { replace, same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import type { Names } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, now] = [Roles.method, RolesService.method];

/** Roles, wherever one stands: their capabilities go by friendly names. */
export const roleNames: Names = {
  capabilities: {
    now: "capabilities",
    toNow: capabilityNumbers,
    toV1: namesOfNumbers,
  },
};

/** Serves roles as version 1 has them. */
export function roles(today: Today): V1Implementation {
  return serve(Roles, {
    create: same(today, v1.create, now.createRole, { names: roleNames }),
    update: replace(today, v1.update, now.updateRole, { names: roleNames }),
    list: list(today, v1.list, now.listRoles, {
      itemNames: roleNames,
      places: { id: "ids", parent: "children_of" },
    }),
    delete: same(today, v1.delete, now.deleteRole),
  });
}

function capabilityNumbers(names: readonly string[]): number[] {
  const violations: FieldViolation[] = [];
  const numbers = names.flatMap((name, i) => {
    const known = findCapabilityByName(name);
    const description = `${JSON.stringify(clip(name))} is no capability`;
    if (!known) violations.push({ field: `capabilities[${i}]`, description });
    return known?.number ?? [];
  });
  if (violations.length > 0) throw invalidArgument(violations);
  return numbers;
}
