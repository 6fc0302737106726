// Create, update and delete of any declared resource, beside what read-methods.ts has. It names no resource.
import { create, type DescMessage, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { type FieldViolation, failedPrecondition, invalidArgument, notFound } from "../aip/errors.ts";
import { applyMask, resolveMask, type UpdateMask } from "../aip/field-mask.ts";
import { depthOf, newChild } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import { type CheckContext, ruleBook } from "../pipeline/text-rules.ts";
import { compileTouchedCheck } from "../pipeline/validate.ts";
import type { ResourceRow } from "../storage/collection/collection.ts";
import { deleteRow, insertRow, updateRow } from "../storage/collection/rows.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { readMethods } from "./read-methods.ts";
import type { Resource } from "./resource.ts";
import { type ServiceContext, writeContext } from "./service-context.ts";

/** What a parent looks like to its children: the collection of groups, without naming it. */
export interface ParentCollection {
  /** The row, which then stays until the end of the transaction: nothing is created in what is being deleted. */
  lock(tx: Transaction, uid: string): Promise<ResourceRow | undefined>;
  readonly type: string;
}

/** Binds the standard methods to a resource. Services wire them by name, or write what differs around the parts. */
export function standardMethods<D extends DescMessage, R extends ResourceRow, S extends keyof R = never>(
  resource: Resource<D, R, S>,
  parents: ParentCollection,
  context: ServiceContext,
) {
  const { collection, schema } = resource;

  const reading = readMethods(resource, context);
  const { find } = reading;
  // Compiled by the first update: most servers serve a few resources only.
  let checkTouched: ReturnType<typeof compileTouchedCheck> | undefined;

  function message(row: R): MessageShape<D> {
    return create(schema, resource.toMessage(row));
  }

  /**
   * Adds a resource below `parent` inside a transaction. Columns that no request sets come from `server`; where it is a
   * function, by the uid of the new row.
   */
  async function insert(
    tx: Transaction,
    parent: string,
    value: MessageShape<D>,
    server: Pick<R, S> | ((uid: string) => Pick<R, S>),
  ): Promise<R> {
    if (parent !== "" && !(await parents.lock(tx, parent))) throw notFound(parents.type, parent);
    if (parent !== "" && depthOf(parent) >= context.settings.maxDepth) {
      throw failedPrecondition("TOO_DEEP", `groups may be nested ${context.settings.maxDepth} levels deep`, parent);
    }
    const { time } = tx.context;
    const uid = newChild(parent);
    const own = { uid, parent: parent === "" ? null : parent, createTime: time, ...updated(time) };
    const row = {
      ...resource.toRow(value),
      ...(typeof server === "function" ? server(uid) : server),
      ...own,
    } as unknown as R;
    await insertRow(tx, collection, row);
    return row;
  }

  /** The row with the changes of a request applied and checked, not yet written. */
  function changed(row: R, value: MessageShape<D>, mask: UpdateMask, now: number): R {
    const before = message(row);
    const merged = message(row);
    applyMask(schema, merged, value, mask);
    const violations = addedViolations(before, merged, mask, { now, createTime: row.createTime });
    if (violations.length > 0) throw invalidArgument(violations);
    return { ...row, ...resource.toRow(merged), ...updated(now) };
  }

  /** What the change gets wrong. An update need not mend what was wrong before it, such as keys that have expired since. */
  function addedViolations(
    before: MessageShape<D>,
    after: MessageShape<D>,
    mask: UpdateMask,
    checkContext: CheckContext,
  ): FieldViolation[] {
    const found = violationsOf(after, mask, checkContext);
    const known = found.length > 0 ? violationsOf(before, mask, checkContext) : [];
    return found.filter(
      ({ field, description }) => !known.some((v) => v.field === field && v.description === description),
    );
  }

  /** What is wrong with a resource as a whole: between its fields, and in the messages inside it that a mask touches. */
  function violationsOf(value: MessageShape<D>, mask: UpdateMask, checkContext: CheckContext): FieldViolation[] {
    checkTouched ??= compileTouchedCheck(schema, ruleBook([{ rules: resource.messageRules }]));
    return [...checkTouched(value, mask), ...(resource.check?.(value, checkContext) ?? [])];
  }

  function updated(time: number): { updateTime?: number } {
    return resource.tracksUpdates ? { updateTime: time } : {};
  }

  /**
   * Updates a resource inside a transaction, and returns its row as stored. `guard` may refuse the change, or make another of it.
   * `options` are those of `updateRow`.
   */
  async function change(
    tx: Transaction,
    value: MessageShape<D> & { uid: string },
    fieldMask: FieldMask | undefined,
    guard: (before: R, after: R) => Promise<R>,
    options: { readonly changesBeside?: boolean } = {},
  ): Promise<R> {
    const mask = requestMask(schema, value, fieldMask);
    const before = await find(tx, value.uid);
    const after = await guard(before, changed(before, value, mask, tx.context.time));
    return await updateRow(tx, collection, before, after, options);
  }

  return {
    ...reading,
    message,
    insert,
    changed,
    change,

    async create(parent: string, value: MessageShape<D>, call: Call, server: Pick<R, S>): Promise<MessageInitShape<D>> {
      const write = writeContext(call, context.clock);
      return resource.toMessage(await context.database.write(write, (tx) => insert(tx, parent, value, server)));
    },

    async update(
      value: MessageShape<D> & { uid: string },
      fieldMask: FieldMask | undefined,
      call: Call,
      guard: (tx: Transaction, before: R, after: R) => Promise<R> = async (_tx, _before, after) => after,
    ): Promise<MessageInitShape<D>> {
      const row = await context.database.write(writeContext(call, context.clock), (tx) =>
        change(tx, value, fieldMask, (before, after) => guard(tx, before, after)),
      );
      return resource.toMessage(row);
    },

    async delete(
      request: { uid: string },
      call: Call,
      guard: (tx: Transaction, row: R) => Promise<void> = async () => {},
    ) {
      await context.database.write(writeContext(call, context.clock), async (tx) => {
        const row = await find(tx, request.uid);
        await guard(tx, row);
        await deleteRow(tx, collection, row);
      });
      return {};
    },
  };
}

/** The mask of an update request; throws when it names what is no field. */
export function requestMask(schema: DescMessage, value: Message, fieldMask: FieldMask | undefined): UpdateMask {
  const result = resolveMask(schema, value, fieldMask);
  if ("violations" in result) throw invalidArgument(result.violations);
  return result.mask;
}
