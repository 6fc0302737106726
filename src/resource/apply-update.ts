// Applies the fields of an update request to a row, and checks the result.
import { create, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { type FieldViolation, invalidArgument } from "../aip/errors.ts";
import { applyMask, resolveMask, type UpdateMask } from "../aip/field-mask.ts";
import { type CheckContext, ruleBook } from "../pipeline/text-rules.ts";
import { compileTouchedCheck } from "../pipeline/validate.ts";
import type { ResourceRow } from "../storage/collection/collection.ts";
import type { Resource } from "./resource.ts";

/** Applies an update to a row without writing it. `now` becomes the update time, in milliseconds since the epoch. */
export type ApplyUpdate<D extends DescMessage, R> = (
  row: R,
  value: MessageShape<D>,
  mask: UpdateMask,
  now: number,
) => R;

/**
 * Makes the function that applies updates to rows of a resource. It throws INVALID_ARGUMENT for what the update gets wrong.
 * Violations that the row had before are accepted, such as static keys that have expired since.
 */
export function updateApplier<D extends DescMessage, R extends ResourceRow, S extends keyof R>(
  resource: Resource<D, R, S>,
): ApplyUpdate<D, R> {
  const { schema } = resource;
  // Compiled by the first update: most servers update a few resources only.
  let checkTouched: ReturnType<typeof compileTouchedCheck> | undefined;

  /** Checks a resource as a whole: rules between its fields, and rules of the nested messages that a mask touches. */
  function violationsOf(value: MessageShape<D>, mask: UpdateMask, checkContext: CheckContext): FieldViolation[] {
    checkTouched ??= compileTouchedCheck(schema, ruleBook([{ rules: resource.messageRules }]));
    return [...checkTouched(value, mask), ...(resource.check?.(value, checkContext) ?? [])];
  }

  return (row, value, mask, now) => {
    const before = create(schema, resource.toMessage(row));
    const after = create(schema, resource.toMessage(row));
    applyMask(schema, after, value, mask);
    const checkContext = { now, createTime: row.createTime };
    const violations = violationsOf(after, mask, checkContext);
    if (violations.length > 0) throwIfAdded(violations, violationsOf(before, mask, checkContext));
    return { ...row, ...resource.toRow(after), ...updateTimeOf(resource, now) };
  };
}

function throwIfAdded(violations: readonly FieldViolation[], known: readonly FieldViolation[]): void {
  const isKnown = (it: FieldViolation) =>
    known.some(({ field, description }) => field === it.field && description === it.description);
  const added = violations.filter((it) => !isKnown(it));
  if (added.length > 0) throw invalidArgument(added);
}

/** Returns the column of the update time, if the resource has one. */
export function updateTimeOf({ tracksUpdates }: { readonly tracksUpdates: boolean }, time: number) {
  return tracksUpdates ? { updateTime: time } : {};
}

/** Returns the mask of an update request. Throws INVALID_ARGUMENT if it names an unknown field. */
export function requestMask(schema: DescMessage, value: Message, fieldMask: FieldMask | undefined): UpdateMask {
  const result = resolveMask(schema, value, fieldMask);
  if ("violations" in result) throw invalidArgument(result.violations);
  return result.mask;
}
