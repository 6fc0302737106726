// AIP-203: what google.api.field_behavior says of a field.
import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";

/** Required fields must be in the request, and not be empty. */
export function isRequired(field: DescField): boolean {
  return behaves(field, FieldBehavior.REQUIRED);
}

/** Whether a field of a message that others hold may not be empty. AIP-233: inside a batch an item may leave out its parent. */
export function isRequiredInside(field: DescField): boolean {
  return isRequired(field) && field.name !== "parent";
}

/** Output-only fields in a request are ignored. */
export function isOutputOnly(field: DescField): boolean {
  return behaves(field, FieldBehavior.OUTPUT_ONLY);
}

/** Input-only fields are in no reply, so that nobody can send back what they hold. */
export function isInputOnly(field: DescField): boolean {
  return behaves(field, FieldBehavior.INPUT_ONLY);
}

/** Immutable fields keep the value of their creation. */
export function isImmutable(field: DescField): boolean {
  return behaves(field, FieldBehavior.IMMUTABLE);
}

function behaves(field: DescField, behavior: FieldBehavior): boolean {
  return hasOption(field, field_behavior) && getOption(field, field_behavior).includes(behavior);
}
