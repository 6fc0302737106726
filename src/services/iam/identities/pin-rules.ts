// The rules of pins, however they are stored.
import type { FieldViolation } from "../../../aip/errors.ts";
import {
  isSameName,
  maxNameLength,
  maxPinnedNames,
  maxPinsLength,
  type NameWithId,
  type PinnedName,
} from "../../../model/trust.ts";
import { checkVisible } from "../../../sts/claim-text.ts";
import { nameKinds } from "../../../sts/trust/issuers.ts";

/** The identities that can have pins, for errors. */
export const namedIdentities = "identities with a claim match or of AWS";

/** The most pins of an identity, for errors. */
export const mostPins = `${maxPinnedNames} pinned names of a kind, and ${maxPinsLength} bytes of them`;

/** The most pins of all kinds together. */
const maxPins = maxPinnedNames * nameKinds.size;

/** Whether pins are more than an identity may have. */
export function isTooMuch(pins: readonly PinnedName[]): boolean {
  const counts = Map.groupBy(pins, ({ kind }) => kind);
  const isMany = [...counts.values()].some(({ length }) => length > maxPinnedNames);
  return isMany || JSON.stringify(pins).length > maxPinsLength;
}

/** Returns the rules that the pins in a field of a request break. */
export function checkPins(pins: readonly NameWithId[], field = "pinned_names"): FieldViolation[] {
  if (pins.length > maxPins) return [{ field, description: `must not have more than ${maxPins} items` }];
  const violations = pins.flatMap((pin, i) => checkPin(pin, `${field}[${i}]`));
  if (violations.length > 0) return violations;
  const twice = pins.findIndex((pin, i) => pins.findIndex((other) => isSameName(other, pin)) !== i);
  return twice < 0 ? [] : [{ field: `${field}[${twice}].name`, description: "is pinned twice" }];
}

function checkPin({ kind, name, id }: NameWithId, field: string): FieldViolation[] {
  const texts = Object.entries({ name, id }).flatMap(([member, text]) => {
    const isLegible = text !== "" && text.length <= maxNameLength && checkVisible(text) === undefined;
    const description = `must have 1 to ${maxNameLength} visible characters`;
    return isLegible ? [] : [{ field: `${field}.${member}`, description }];
  });
  const known = nameKinds.has(kind);
  return known
    ? texts
    : [{ field: `${field}.kind`, description: `must be one of ${[...nameKinds].join(", ")}` }, ...texts];
}
