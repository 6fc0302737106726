// AIP-203: the annotation google.api.field_behavior.
import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";

/** Reports whether a field must be in the request and not empty. */
export function isRequired(field: DescField): boolean {
  return behaves(field, FieldBehavior.REQUIRED);
}

/** Reports whether a field of a nested message must not be empty. AIP-233: items of a batch may omit their parent. */
export function isRequiredInside(field: DescField): boolean {
  return isRequired(field) && field.name !== "parent";
}

/** Reports whether a field is output-only, and therefore ignored in requests. */
export function isOutputOnly(field: DescField): boolean {
  return behaves(field, FieldBehavior.OUTPUT_ONLY);
}

/** Reports whether a field is input-only, and therefore never in responses. */
export function isInputOnly(field: DescField): boolean {
  return behaves(field, FieldBehavior.INPUT_ONLY);
}

/** Reports whether a field cannot change after creation. */
export function isImmutable(field: DescField): boolean {
  return behaves(field, FieldBehavior.IMMUTABLE);
}

function behaves(field: DescField, behavior: FieldBehavior): boolean {
  return hasOption(field, field_behavior) && getOption(field, field_behavior).includes(behavior);
}
