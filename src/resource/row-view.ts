// What the rows of the change log are shown as.
import { create, type DescMessage, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import type { CollectionTables } from "../storage/collection/collection.ts";

/** How the list of changes shows rows of a kind: by what is in them alone, so that it is always the same. */
export interface RowView {
  readonly kind: string;
  /** The JSON of the message that stands for a row, without secrets. */
  show(row: unknown): JsonObject;
}

/** The view of a kind of rows. */
export function rowView<D extends DescMessage, R>(
  { collection, schema }: { readonly collection: Pick<CollectionTables, "kind">; readonly schema: D },
  message: (row: R) => MessageInitShape<D>,
): RowView {
  return {
    kind: collection.kind,
    show: (row) => toJson(schema, create(schema, message(row as R))) as JsonObject,
  };
}
