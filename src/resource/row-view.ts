// Converts rows of the change log for the audit log.
import { create, type DescMessage, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import type { CollectionTables } from "../storage/collection/collection.ts";
import type { SentenceForm } from "./sentence-form.ts";

/** Shows the rows of a kind in the audit log. The result depends on the row alone, so it never changes later. */
export interface RowView {
  readonly kind: string;
  /** Returns a row as the JSON of its message, without secrets. */
  show(row: unknown): JsonObject;
  /** The form of its sentences; that of resources if absent. */
  readonly sentence?: SentenceForm;
}

/** Makes the view of a kind from its message, with the form of its sentences; that of resources if absent. */
export function rowView<D extends DescMessage, R>(
  { collection, schema }: { readonly collection: Pick<CollectionTables, "kind">; readonly schema: D },
  message: (row: R) => MessageInitShape<D>,
  sentence?: SentenceForm,
): RowView {
  return {
    kind: collection.kind,
    ...(sentence && { sentence }),
    show: (row) => toJson(schema, create(schema, message(row as R))) as JsonObject,
  };
}
