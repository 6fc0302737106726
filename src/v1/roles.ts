import { Roles } from "../../gen/chainguard/platform/iam/v1/roles_pb.ts";
import { RolesService } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { clip } from "../aip/clip.ts";
import { invalidArgument } from "../aip/errors.ts";
import { findCapability, findCapabilityByName } from "../authz/capabilities.ts";
import { replace, same, serve, type V1Implementation } from "./adapter.ts";
import type { Names } from "./fields.ts";
import { list } from "./lists.ts";
import type { Today } from "./today.ts";

const [v1, now] = [Roles.method, RolesService.method];

/** Roles, wherever one stands: their capabilities go by friendly names. */
export const roleNames: Names = {
  capabilities: {
    now: "capabilities",
    toNow: capabilityNumbers,
    toV1: capabilityNames,
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

/** The friendly names of capabilities; those that are no more have none. */
export function capabilityNames(numbers: readonly number[]): string[] {
  return numbers.flatMap((number) => findCapability(number)?.name ?? []);
}

function capabilityNumbers(names: readonly string[]): number[] {
  const found = names.map((name) => findCapabilityByName(name)?.number);
  const unknown = names.flatMap((name, i) => {
    const description = `${JSON.stringify(clip(name))} is no capability`;
    return found[i] === undefined ? [{ field: `capabilities[${i}]`, description }] : [];
  });
  if (unknown.length > 0) throw invalidArgument(unknown);
  return found as number[];
}
