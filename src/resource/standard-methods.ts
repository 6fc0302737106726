// Create, Update and Delete of any declared resource, with Get and List from read-methods.ts.
import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { failedPrecondition, notFound } from "../aip/errors.ts";
import { depthOf, newChild } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import type { ResourceRow } from "../storage/collection/collection.ts";
import { rowTag } from "../storage/collection/row-tag.ts";
import { deleteRow, insertRow, updateRow } from "../storage/collection/rows.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { requestMask, updateApplier, updateTimeOf } from "./apply-update.ts";
import { readMethods } from "./read-methods.ts";
import type { Resource } from "./resource.ts";
import { type ServiceContext, type ServiceSettings, writeContext } from "./service-context.ts";

/** The parents of a resource: in most cases groups, which this folder must not import. */
export interface ParentCollection {
  /** Finds a parent and keeps it from being deleted until the end of the transaction. */
  keep(tx: Transaction, uid: string): Promise<ResourceRow | undefined>;
  /** Finds a parent and locks it until the end of the transaction, which excludes other writes that lock it. */
  lock(tx: Transaction, uid: string): Promise<ResourceRow | undefined>;
  readonly type: string;
}

/** The columns of a new row that clients cannot set. A function receives its uid and the time of its creation. */
type ServerColumns<R, S extends keyof R> = Pick<R, S> | ((uid: string, createTime: number) => Pick<R, S>);

/** Returns the standard methods of a resource. Services wire them by name, or build their own methods from the parts. */
export function standardMethods<D extends DescMessage, R extends ResourceRow, S extends keyof R = never>(
  resource: Resource<D, R, S>,
  parents: ParentCollection,
  context: ServiceContext,
) {
  const reading = readMethods(resource, context);
  const parts = transactionParts(resource, parents, context, reading.find);
  const { database, clock } = context;

  return {
    ...reading,
    ...parts,

    message: (row: R): MessageShape<D> => create(resource.schema, resource.toMessage(row)),

    async create(
      parent: string,
      value: MessageShape<D>,
      call: Call,
      server: ServerColumns<R, S>,
    ): Promise<MessageInitShape<D>> {
      const write = { ...writeContext(call, clock), isIndependent: true };
      return resource.toMessage(await database.write(write, (tx) => parts.insert(tx, parent, value, server)));
    },

    async update(
      value: MessageShape<D> & { uid: string },
      fieldMask: FieldMask | undefined,
      call: Call,
      guard: (tx: Transaction, before: R, after: R) => Promise<R> = async (_tx, _before, after) => after,
    ): Promise<MessageInitShape<D>> {
      const row = await database.write(writeContext(call, clock), (tx) =>
        parts.change(tx, value, fieldMask, (before, after) => guard(tx, before, after)),
      );
      return resource.toMessage(row);
    },

    async delete(
      request: { uid: string },
      call: Call,
      guard: (tx: Transaction, row: R) => Promise<void> = async () => {},
    ) {
      await database.write(writeContext(call, clock), async (tx) => {
        const row = await reading.find(tx, request.uid);
        await guard(tx, row);
        await deleteRow(tx, resource.collection, row);
      });
      return {};
    },
  };
}

/** Throws TOO_DEEP if nothing can be created in a group, because of its depth. */
export function requireDepth(parent: string, { maxDepth }: Pick<ServiceSettings, "maxDepth">): void {
  if (parent !== "" && depthOf(parent) >= maxDepth)
    throw failedPrecondition("TOO_DEEP", `groups may be nested ${maxDepth} levels deep`, parent);
}

/** Returns the parts of the writing methods that run inside a transaction. */
function transactionParts<D extends DescMessage, R extends ResourceRow, S extends keyof R>(
  resource: Resource<D, R, S>,
  parents: ParentCollection,
  context: ServiceContext,
  find: ReturnType<typeof readMethods<D, R>>["find"],
) {
  const changed = updateApplier(resource);
  return {
    changed,

    /**
     * Inserts a resource under `parent` in the given transaction. `server` supplies the columns that clients cannot set.
     */
    async insert(tx: Transaction, parent: string, value: MessageShape<D>, server: ServerColumns<R, S>): Promise<R> {
      if (parent !== "" && !(await parents.keep(tx, parent))) throw notFound(parents.type, parent);
      requireDepth(parent, context.settings);
      const { time } = tx.context;
      const uid = newChild(parent);
      const own = { uid, parent: parent === "" ? null : parent, createTime: time, ...updateTimeOf(resource, time) };
      const supplied = typeof server === "function" ? server(uid, time) : server;
      const row = { ...resource.toRow(value), ...supplied, ...own } as unknown as R;
      await insertRow(tx, resource.collection, row);
      tx.context.onTag?.(rowTag(resource.collection, row));
      return row;
    },

    /**
     * Updates a resource in the given transaction and returns the stored row. `guard` may reject the change, or return another
     * row to store. `options` are those of `updateRow`.
     */
    async change(
      tx: Transaction,
      value: MessageShape<D> & { uid: string },
      fieldMask: FieldMask | undefined,
      guard: (before: R, after: R) => Promise<R>,
      options: { readonly changesDependents?: boolean } = {},
    ): Promise<R> {
      const mask = requestMask(resource.schema, value, fieldMask);
      const before = await find(tx, value.uid);
      const after = await guard(before, changed(before, value, mask, tx.context.time));
      const row = await updateRow(tx, resource.collection, before, after, options);
      tx.context.onTag?.(rowTag(resource.collection, row));
      return row;
    },
  };
}
