// The columns of lists, and which of them this browser shows.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type ReactNode, useState } from "react";

/** A column of a table of rows. The first column has the link that opens the row. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** The cell as a text without markup: in files, and where a row is called by its first column. */
  readonly text?: (row: Row) => string;
  /** The name of a column that people may show and hide. */
  readonly id?: string;
  /** Whether the column is hidden until somebody shows it. */
  readonly isExtra?: boolean;
  /** Whether the column is hidden where the list has less room. */
  readonly isWide?: boolean;
  /** Whether it has the actions of the row: cards show it without the title. */
  readonly isAction?: boolean;
  /** The order that a first choice of the column gives, as `order_by` has it, such as "score desc"; a second choice turns it round. */
  readonly sort?: string;
}

/** The order of a list, as `order_by` has it. */
export interface ListOrder {
  readonly by: string;
  readonly onChange: (by: string) => void;
}

/** Which columns of a list somebody has shown or hidden, by their ids. */
type Choices = Readonly<Record<string, boolean>>;

const stored = "gatehouse-columns";

function readAll(): Readonly<Record<string, Choices>> {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(stored) ?? "{}");
    return typeof all === "object" && all !== null ? (all as Record<string, Choices>) : {};
  } catch {
    // Another program of this origin may have written it.
    return {};
  }
}

/** Returns whether a column is shown, and how to change that. The browser remembers it for the list. */
export function useColumnChoice(list: string) {
  const [choices, setChoices] = useState<Choices>(() => readAll()[list] ?? {});
  const isShown = ({ id, isExtra = false }: Pick<Column<never>, "id" | "isExtra">) =>
    id === undefined || (choices[id] ?? !isExtra);
  const show = (id: string, isWanted: boolean) => {
    const next = { ...choices, [id]: isWanted };
    setChoices(next);
    localStorage.setItem(stored, JSON.stringify({ ...readAll(), [list]: next }));
  };
  return { isShown, show };
}

/** Returns a time as files have it; empty without one. */
export function timeCell(time: Timestamp | undefined): string {
  return time ? timestampDate(time).toISOString() : "";
}
