// Converts rows of the change log for the audit log.
import { create, type DescMessage, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import type { CollectionTables } from "../storage/collection/collection.ts";

/** Shows the rows of a kind in the audit log. The result depends on the row alone, so it never changes later. */
export interface RowView {
  readonly kind: string;
  /** Returns a row as the JSON of its message, without secrets. */
  show(row: unknown): JsonObject;
}

/** Makes the view of a kind from its message. */
export function rowView<D extends DescMessage, R>(
  { collection, schema }: { readonly collection: Pick<CollectionTables, "kind">; readonly schema: D },
  message: (row: R) => MessageInitShape<D>,
): RowView {
  return {
    kind: collection.kind,
    show: (row) => toJson(schema, create(schema, message(row as R))) as JsonObject,
  };
}
