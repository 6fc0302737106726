// AIP-134, AIP-161: the fields that an update changes.
import type { DescField, DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { clip } from "../base/clip.ts";
import type { FieldViolation } from "./errors.ts";
import { isImmutable, isOutputOnly } from "./field-behavior.ts";

/** More paths than any resource has. */
const maxPaths = 200;

/** The update mask of a request. */
export interface UpdateMask {
  /** Whether the whole resource is replaced. */
  readonly isFull: boolean;
  /** Paths in proto spelling, all of them valid. Empty for a full replacement. */
  readonly paths: readonly string[];
}

/** An update mask, or its violations. */
export type MaskResult = { readonly mask: UpdateMask } | { readonly violations: readonly FieldViolation[] };

/**
 * Resolves the mask of an update of `message`: absent or empty (security case F2) means the populated fields, `*` means
 * all fields. Accepts both spellings of a path.
 */
export function resolveMask(
  schema: DescMessage,
  message: Message | undefined,
  mask: FieldMask | undefined,
): MaskResult {
  const asked = [...new Set(mask?.paths.filter((path) => path !== "") ?? [])];
  if (asked.length > maxPaths)
    return { violations: [{ field: "update_mask", description: `must not name more than ${maxPaths} fields` }] };
  if (asked.includes("*")) return { mask: { isFull: true, paths: [] } };
  if (asked.length === 0) return { mask: { isFull: false, paths: message ? populatedPaths(schema, message) : [] } };
  const resolved = asked.map((path) => ({ path, name: resolvePath(schema, path) }));
  const unknown = resolved.filter(({ name }) => name === undefined);
  if (unknown.length > 0) {
    return {
      violations: unknown.map(({ path }) => ({
        field: "update_mask",
        description: `${JSON.stringify(clip(path))} is not a field of ${schema.name}`,
      })),
    };
  }
  return { mask: { isFull: false, paths: [...new Set(resolved.map(({ name }) => name!))] } };
}

/** Reports whether the mask contains the field or something inside it. */
export function maskNames(mask: UpdateMask, field: string): boolean {
  return mask.isFull || mask.paths.some((path) => path === field || path.startsWith(`${field}.`));
}

/** Copies the masked fields from `source` to `target`. Output-only and immutable fields keep their values. */
export function applyMask<D extends DescMessage>(
  schema: D,
  target: MessageShape<D>,
  source: MessageShape<D>,
  mask: UpdateMask,
): void {
  const to = reflect(schema, target);
  const from = reflect(schema, source);
  const paths = mask.isFull ? schema.fields.map((field) => field.name) : mask.paths;
  // Unset members of a oneof first, so none of them clears the member that is set.
  const ordered = paths.map((path) => path.split(".")).sort((a, b) => Number(isSet(from, a)) - Number(isSet(from, b)));
  for (const path of ordered) copy(to, from, path);
}

function copy(to: ReflectMessage, from: ReflectMessage, [name, ...rest]: string[]): void {
  const field = to.fields.find((candidate) => candidate.name === name);
  if (!field || isOutputOnly(field) || isImmutable(field)) return;
  if (rest.length > 0 && field.fieldKind === "message") {
    if (!from.isSet(field) && !to.isSet(field)) return;
    const inner = to.get(field);
    copy(inner, from.get(field), rest);
    to.set(field, inner);
  } else if (from.isSet(field)) {
    to.set(field, from.get(field));
  } else {
    to.clear(field);
  }
}

function isSet(message: ReflectMessage, [name]: readonly string[]): boolean {
  const field = message.fields.find((candidate) => candidate.name === name);
  return field !== undefined && message.isSet(field);
}

function resolvePath(schema: DescMessage, path: string): string | undefined {
  const names: string[] = [];
  let message: DescMessage | undefined = schema;
  for (const segment of path.split(".")) {
    const field: DescField | undefined = message?.fields.find((f) => f.name === segment || f.jsonName === segment);
    if (!field) return undefined;
    names.push(field.name);
    message =
      field.fieldKind === "message" && !field.message.typeName.startsWith("google.protobuf.")
        ? field.message
        : undefined;
  }
  return names.join(".");
}

/** Over RPC, an absent mask means the populated fields; zero values cannot be distinguished from unset ones. */
function populatedPaths(schema: DescMessage, message: Message): string[] {
  const reflected = reflect(schema, message);
  return schema.fields.filter((field) => reflected.isSet(field)).map((field) => field.name);
}
