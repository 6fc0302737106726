import { type DescMessage, getOption, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { resource as resourceOption } from "../../gen/google/api/resource_pb.ts";
import type { FieldViolation } from "../aip/errors.ts";
import type { OrderBy } from "../aip/order-by.ts";
import { resourceType } from "../aip/resource-type.ts";
import type { CheckContext, MessageRules, TextRule } from "../pipeline/text-rules.ts";
import type { Collection, ResourceRow } from "../storage/collection/collection.ts";
import type { SortField } from "../storage/list/list-rows.ts";

/** Declares a resource that can be read. Everything else about it follows from this and its proto. */
export interface ReadableDeclaration<D extends DescMessage, R extends ResourceRow> {
  readonly schema: D;
  /** The field of the List response that contains the page. */
  readonly plural: string;
  readonly collection: Collection<R>;
  /** The fields that `order_by` accepts. */
  readonly orderable: Readonly<Record<string, SortField>>;
  /** The order of a list without `order_by`; by uid if absent. */
  readonly defaultOrder?: OrderBy<SortField>;
  /** Whether rows of this kind can themselves be the group of a grant, as groups can; false if absent. */
  readonly includesGranted?: boolean;
  /** Whether every caller who may list sees the resources without a parent; false if absent. */
  readonly includesRoots?: boolean;
  toMessage(row: R): MessageInitShape<D>;
}

/** Declares a resource that callers also write. `S` names the columns that no request sets. */
export interface ResourceDeclaration<D extends DescMessage, R extends ResourceRow, S extends keyof R = never>
  extends ReadableDeclaration<D, R> {
  readonly rules: Readonly<Record<string, TextRule>>;
  /** The rules of nested messages; none if absent. */
  readonly parts?: readonly MessageRules[];
  /** Checks rules that involve several fields. Field paths are relative to the resource. */
  readonly check?: (message: MessageShape<D>, context: CheckContext) => readonly FieldViolation[];
  /** Returns the columns that come from the message. The standard methods set uid, parent and times; the service sets `S`. */
  toRow(message: MessageShape<D>): Omit<R, "uid" | "parent" | "createTime" | "updateTime" | S>;
}

/** The declaration of a read-only resource, completed by its proto. */
export interface ReadableResource<D extends DescMessage, R extends ResourceRow> extends ReadableDeclaration<D, R> {
  /** The type in errors, such as `iam.chainguard.dev/Group`. */
  readonly type: string;
}

/** The declaration of a resource, completed by its proto. */
export interface Resource<D extends DescMessage, R extends ResourceRow, S extends keyof R = never>
  extends ResourceDeclaration<D, R, S> {
  readonly type: string;
  /** Whether the resource has an update time. */
  readonly tracksUpdates: boolean;
  /** The rules of the resource and of its nested messages. */
  readonly messageRules: readonly MessageRules[];
}

/** The `order_by` names of every list: specification, "List endpoints", rule 1. Without an update time, the creation time counts. */
export const commonOrders = {
  uid: "uid",
  name: "name",
  // The published name of each time, and both spellings of its field.
  created_at: "createTime",
  create_time: "createTime",
  createTime: "createTime",
  updated_at: "updateTime",
  update_time: "updateTime",
  updateTime: "updateTime",
} as const satisfies Record<string, SortField>;

/** The same, of resources without a name that have a role: its name is theirs. */
export const roleOrders = { ...commonOrders, name: "roleName" } as const satisfies Record<string, SortField>;

/** Completes the declaration of a read-only resource. Throws if its plural is not that of the proto. */
export function defineReadableResource<D extends DescMessage, R extends ResourceRow>(
  declaration: ReadableDeclaration<D, R>,
): ReadableResource<D, R> {
  return { ...declaration, type: typeOf(declaration) };
}

/** Completes the declaration of a resource. Throws if its plural is not that of the proto. */
export function defineResource<D extends DescMessage, R extends ResourceRow, S extends keyof R = never>(
  declaration: ResourceDeclaration<D, R, S>,
): Resource<D, R, S> {
  const { schema, rules, parts = [], check } = declaration;
  return {
    ...declaration,
    type: typeOf(declaration),
    tracksUpdates: schema.fields.some((field) => field.name === "update_time"),
    messageRules: [
      { schema, fields: rules, ...(check ? { check: check as NonNullable<MessageRules["check"]> } : {}) },
      ...parts,
    ],
  };
}

function typeOf<D extends DescMessage, R extends ResourceRow>({
  schema,
  ...declared
}: ReadableDeclaration<D, R>): string {
  const type = resourceType(schema);
  const { plural } = getOption(schema, resourceOption);
  if (plural !== declared.plural)
    throw new Error(`${schema.typeName}: its plural is ${plural}, not ${declared.plural}`);
  return type;
}
