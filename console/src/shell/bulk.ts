// Actions on several rows of a list: their declaration, next to the view, and what their dialogs get.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { ComponentType } from "react";

/** An action on the selected rows. Its dialog shows `BulkDialog`, and is loaded with its first use (`lazyPart`). */
export interface BulkAction<Row> {
  /** The text of its button: verb and noun. */
  readonly text: string;
  /** The method that it calls for each row. Who lacks its capability for all rows sees why. */
  readonly method: DescMethodUnary;
  /** The resource or group at which the method is called for a row. */
  readonly placeOf: (row: Row) => string;
  readonly Dialog: ComponentType<BulkProps<Row>>;
}

/** The properties of the dialog of an action. */
export interface BulkProps<Row> {
  readonly action: BulkAction<Row>;
  /** Reads the selected rows. */
  readonly read: (signal: AbortSignal) => Promise<readonly Row[]>;
  /** Returns what a row is called in the results. */
  readonly nameOf: (row: Row) => string;
  /** Takes the rows that need no further action out of the selection. */
  readonly onDone: (rows: readonly Row[]) => void;
  readonly onClose: () => void;
}
