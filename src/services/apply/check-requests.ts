// Checks the resources of a request by the rules of the methods that create them, before the database is read.
import type { ResourceSpec } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { ApiError, fieldViolationsOf } from "../../aip/errors.ts";
import { newViolations } from "../../aip/violations.ts";
import { nextSlice } from "../../base/slices.ts";
import type { RequestCheck } from "../../pipeline/nested-methods.ts";
import { anyUids } from "../kinds/names.ts";
import { describeFailure } from "./failures.ts";
import { kindNamed } from "./kinds.ts";
import { creation } from "./requests.ts";

/** Throws INVALID_ARGUMENT with what the resources get wrong, unless that depends on stored resources. */
export async function checkRequests(resources: readonly ResourceSpec[], check: RequestCheck): Promise<void> {
  const violations = newViolations();
  for (const [index, { resource }] of resources.entries()) {
    await nextSlice();
    if (resource.case === undefined) continue;
    const { field, file } = kindNamed(resource.case);
    const named = (file.check?.(resource.value) ?? []).map((each) => ({
      ...each,
      field: `resources[${index}].${field}.${each.field}`,
    }));
    violations.addAll(named);
    const { method, request } = creation(resource, anyUids);
    try {
      check(method, request);
    } catch (error) {
      const described = describeFailure(error, { resource, name: "", wanted: { index } });
      if (!(described instanceof ApiError)) throw described;
      // Fields that the form has already rejected are not reported twice.
      const found = new Set(named.map((each) => baseOf(each.field)));
      violations.addAll((fieldViolationsOf(described) ?? []).filter((each) => !found.has(baseOf(each.field))));
    }
  }
  violations.throwIfAny();
}

/** Returns the path of a field without the place in a list at its end. */
function baseOf(field: string): string {
  return field.replace(/\[\d+\]$/, "");
}
