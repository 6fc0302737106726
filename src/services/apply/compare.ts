// Compares the wanted state of a resource with the stored one.
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { clip } from "../../base/clip.ts";
import type { AnySpec } from "../kinds/spec.ts";
import { jsonOf, kindNamed } from "./kinds.ts";

/** The maximum length of a shown value, in UTF-16 units. */
const shownLength = 200;

/** A field of a resource that differs. */
export interface FieldDifference {
  readonly field: string;
  readonly oldValue: string;
  readonly newValue: string;
}

/** Returns the fields in which two states of a resource differ. */
export function differences(stored: AnySpec, wanted: AnySpec): readonly FieldDifference[] {
  const [before, after] = [fieldsOf(stored), fieldsOf(wanted)];
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const { namingFields = [], part } = kindNamed(wanted.case).file;
  const isCompared = (field: string) =>
    !namingFields.includes(field) && (field !== part?.field || after[field] !== undefined);
  return fields
    .filter((field) => isCompared(field) && !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({ field, oldValue: textOf(before[field]), newValue: textOf(after[field]) }));
}

function fieldsOf(resource: AnySpec): JsonObject {
  const json = jsonOf(resource);
  return kindNamed(resource.case).file.comparable?.(json, resource.value) ?? json;
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? "" : clip(JSON.stringify(value), shownLength);
}
