// Checks the resources of a request by the rules of the methods that create them, before the database is read.
import type { ResourceSpec } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { ApiError, type FieldViolation, fieldViolationsOf } from "../../aip/errors.ts";
import { newViolations } from "../../aip/violations.ts";
import { nextSlice } from "../../base/slices.ts";
import { findCapabilityByName } from "../../model/capabilities.ts";
import type { RequestCheck } from "../../pipeline/nested-methods.ts";
import { describeFailure } from "./failures.ts";
import type { AnyResource } from "./kinds.ts";
import { creation, type Uids } from "./requests.ts";

/** Some uid: references are checked later. */
const someUid = "0".repeat(40);

const anyUids: Uids = {
  group: () => someUid,
  role: () => someUid,
  identity: () => someUid,
  identityProvider: () => someUid,
};

/** Throws INVALID_ARGUMENT with what the resources get wrong, unless that depends on stored resources. */
export async function checkRequests(resources: readonly ResourceSpec[], check: RequestCheck): Promise<void> {
  const violations = newViolations();
  for (const [index, { resource }] of resources.entries()) {
    await nextSlice();
    if (resource.case === undefined) continue;
    const named = unknownCapabilities(resource, index);
    violations.addAll(named);
    const { method, request } = creation(resource, anyUids);
    try {
      check(method, request);
    } catch (error) {
      const described = describeFailure(error, { resource, name: "", wanted: { index } });
      if (!(described instanceof ApiError)) throw described;
      // A capability without a number is reported once.
      const others = fieldViolationsOf(described) ?? [];
      violations.addAll(others.filter(({ field }) => named.length === 0 || !field.includes(".role.capabilities")));
    }
  }
  violations.throwIfAny();
}

function unknownCapabilities(resource: AnyResource, index: number): readonly FieldViolation[] {
  if (resource.case !== "role") return [];
  return resource.value.capabilities.flatMap((name, at) => {
    if (findCapabilityByName(name)) return [];
    const description = `${JSON.stringify(name.slice(0, 100))} is not the name of a capability`;
    return [{ field: `resources[${index}].role.capabilities[${at}]`, description }];
  });
}
