// What the rows of the change log are shown as.
import { create, type DescMessage, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { type Soon, whenThere } from "../soon.ts";
import type { CollectionTables } from "../storage/collection.ts";
import type { Session } from "../storage/session.ts";

/** A kind of rows in the change log, and the message that stands for one. */
export interface LoggedResource<D extends DescMessage, R> {
  readonly collection: Pick<CollectionTables, "kind">;
  readonly schema: D;
  /** A row as it is shown, without secrets; `time` is that of the change. */
  message(row: R, session: Session, time: number): Soon<MessageInitShape<D>>;
}

/** How rows of a kind are shown. */
export interface RowView {
  readonly kind: string;
  /** The JSON of the message that stands for a row. */
  show(row: unknown, session: Session, time: number): Soon<JsonObject>;
}

/** The view of a resource. */
export function rowView<D extends DescMessage, R>({ collection, schema, message }: LoggedResource<D, R>): RowView {
  return {
    kind: collection.kind,
    show: (row, session, time) =>
      whenThere(message(row as R, session, time), (shown) => toJson(schema, create(schema, shown)) as JsonObject),
  };
}
