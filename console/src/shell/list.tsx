// A list as views show it: the table, the menu of its columns, and the way to its other pages.

import type { ReactNode } from "react";
import { errorText } from "../api/error-text.ts";
import { useTexts } from "../texts/texts.ts";
import type { BulkAction } from "./bulk.ts";
import { type Column, type ListOrder, useColumnChoice } from "./columns.ts";
import { lazyPart } from "./lazy-part.tsx";
import { ListOptions } from "./list-options.tsx";
import type { ListWindow } from "./list-window.ts";
import type { Listed, ListReader } from "./paged-list.ts";
import { Pager, type PagerProps } from "./pager.tsx";
import { Loading } from "./parts.tsx";
import { useSelection } from "./selection.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { Table } from "./table.tsx";
import { OrderStatus } from "./table-head.tsx";
import { notify } from "./toast.tsx";
import type { WindowTableProps } from "./window-table.tsx";

/** A list as `usePagedList` returns it. */
interface PagedList<Row> extends Listed<Row> {
  readonly order: ListOrder | undefined;
  readonly pages: PagerProps;
  readonly reader: ListReader<Row>;
  readonly window?: ListWindow<Row> | undefined;
}

/** Loaded with the first list of so many rows. */
const WindowTable = lazyPart<WindowTableProps<never>>(
  async () => (await import("./window-table.tsx")).WindowTable,
  <Loading lines={10} />,
);

interface ListProps<Row> {
  /** The name under which this browser remembers the columns. */
  readonly id: string;
  /** The name of the table, for screen readers. */
  readonly label: string;
  readonly list: PagedList<Row>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Actions on several rows. */
  readonly actions?: readonly BulkAction<Row>[];
  /** The key of the row that the view shows next to the table. */
  readonly selected?: string;
  /** Shown in the place of an empty table. */
  readonly empty: ReactNode;
}

/** The list. `usePagedList` reads it. */
export function List<Row>({ id, list, columns, actions = [], ...table }: ListProps<Row>) {
  const { t } = useTexts();
  const { isShown, show } = useColumnChoice(id);
  const shown = columns.filter(isShown);
  const { window } = list;
  const { total } = list.pages;
  const from = window?.from ?? list.pages.from - 1;
  const nameOf = columns[0]?.text ?? table.keyOf;
  const selection = useSelection({
    reader: list.reader,
    keyOf: table.keyOf,
    total,
    rows: window?.rows ?? list.rows ?? [],
    from,
  });
  const save = () =>
    void import("./save-csv.ts")
      .then(({ saveCsv }) => saveCsv(t, id, shown, list.reader))
      .catch((error) => notify(errorText(t, error)));
  const props = {
    ...table,
    columns: shown,
    ...(list.order && { order: list.order }),
    ...(actions.length > 0 && { selecting: { selection, from, nameOf } }),
    options: (
      <ListOptions
        columns={columns}
        isShown={isShown}
        onShow={show}
        onSave={columns.some(({ text }) => text) ? save : undefined}
        total={total}
      />
    ),
  };
  return (
    <>
      {window ? (
        <WindowTable key={window.id} {...(props as unknown as WindowTableProps<never>)} source={window as never} />
      ) : (
        <Table {...props} list={list} />
      )}
      <OrderStatus columns={columns} order={list.order} />
      {!window && <Pager {...list.pages} />}
      {actions.length > 0 && <SelectionBar selection={selection} total={total} actions={actions} nameOf={nameOf} />}
    </>
  );
}
