// Checks the resources of a request by the rules of the methods that create them, before the database is read.
import type { ResourceSpec } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { ApiError, fieldViolationsOf } from "../../aip/errors.ts";
import { newViolations } from "../../aip/violations.ts";
import { findCapabilityByName } from "../../model/capabilities.ts";
import type { NestedMethods } from "../../pipeline/nested-methods.ts";
import { describeFailure } from "./failures.ts";
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
export function checkRequests(resources: readonly ResourceSpec[], methods: NestedMethods): void {
  const violations = newViolations();
  resources.forEach(({ resource }, index) => {
    if (resource.case === undefined) return;
    if (resource.case === "role")
      resource.value.capabilities.forEach((name, at) => {
        if (!findCapabilityByName(name))
          violations.add(
            `resources[${index}].role.capabilities[${at}]`,
            `${JSON.stringify(name.slice(0, 100))} is not the name of a capability`,
          );
      });
    const { method, request } = creation(resource, anyUids);
    try {
      methods.check(method, request);
    } catch (error) {
      const described = describeFailure(error, { resource, name: "", wanted: { index } as never });
      if (!(described instanceof ApiError)) throw described;
      violations.addAll(fieldViolationsOf(described) ?? []);
    }
  });
  violations.throwIfAny();
}
