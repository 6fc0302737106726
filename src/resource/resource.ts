import { type DescMessage, getOption, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { resource as resourceOption } from "../../gen/google/api/resource_pb.ts";
import type { FieldViolation } from "../aip/errors.ts";
import type { OrderBy } from "../aip/order-by.ts";
import { resourceType } from "../aip/resource-type.ts";
import type { CheckContext, MessageRules, TextRule } from "../pipeline/text-rules.ts";
import type { Collection, ResourceRow } from "../storage/collection/collection.ts";
import type { SortField } from "../storage/list/list-rows.ts";

/** What a resource that can be read declares; everything else about it follows from this and its proto. */
export interface ReadableDeclaration<D extends DescMessage, R extends ResourceRow> {
  readonly schema: D;
  /** The field of the List reply that holds the page. */
  readonly plural: string;
  readonly collection: Collection<R>;
  /** The fields that `order_by` accepts. */
  readonly orderable: Readonly<Record<string, SortField>>;
  /** The order of a list that asks for none; by uid when absent. */
  readonly defaultOrder?: OrderBy<SortField>;
  /** Whether the uid of a granted group can be that of a resource; false when absent. */
  readonly includesGranted?: boolean;
  /** Whether resources without parent are shown to everybody who may list at all; false when absent. */
  readonly includesRoots?: boolean;
  toMessage(row: R): MessageInitShape<D>;
}

/** What a resource declares that callers write, too. `S` names the columns that no request ever sets. */
export interface ResourceDeclaration<D extends DescMessage, R extends ResourceRow, S extends keyof R = never>
  extends ReadableDeclaration<D, R> {
  readonly rules: Readonly<Record<string, TextRule>>;
  /** The rules of the messages inside it; none when absent. */
  readonly parts?: readonly MessageRules[];
  /** A rule between fields; paths are relative to the resource. */
  readonly check?: (message: MessageShape<D>, context: CheckContext) => readonly FieldViolation[];
  /** The columns that come from the message; uid, parent and times are the engine's, `S` those of whoever creates. */
  toRow(message: MessageShape<D>): Omit<R, "uid" | "parent" | "createTime" | "updateTime" | S>;
}

/** A declaration of a resource that is only read, with what follows from it. */
export interface ReadableResource<D extends DescMessage, R extends ResourceRow> extends ReadableDeclaration<D, R> {
  /** The type in errors, such as `iam.chainguard.dev/Group`. */
  readonly type: string;
}

/** A declaration of a resource, with what follows from it. */
export interface Resource<D extends DescMessage, R extends ResourceRow, S extends keyof R = never>
  extends ResourceDeclaration<D, R, S> {
  readonly type: string;
  /** Whether the resource says when it was last changed. */
  readonly tracksUpdates: boolean;
  /** Its own rules, and those of the messages inside it. */
  readonly messageRules: readonly MessageRules[];
}

/** What `order_by` calls the time of creation: the published name, and both spellings of the field. */
export const creationOrders = {
  created_at: "createTime",
  create_time: "createTime",
  createTime: "createTime",
} as const satisfies Record<string, SortField>;

/** The orders that every resource with a name and an update time has. */
export const commonOrders = {
  uid: "uid",
  name: "name",
  ...creationOrders,
  updated_at: "updateTime",
  update_time: "updateTime",
  updateTime: "updateTime",
} as const satisfies Record<string, SortField>;

/** Completes the declaration of a resource that is only read by what the proto says. */
export function defineReadableResource<D extends DescMessage, R extends ResourceRow>(
  declaration: ReadableDeclaration<D, R>,
): ReadableResource<D, R> {
  return { ...declaration, type: typeOf(declaration) };
}

/** Completes a declaration by what the proto says. */
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
