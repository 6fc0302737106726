// A list as views show it: the table, the menu of its columns, and the way to its other pages.
import type { ReactNode } from "react";
import type { BulkAction } from "./bulk.ts";
import { type Column, type ListOrder, useColumnChoice } from "./columns.ts";
import { ListOptions } from "./list-options.tsx";
import type { Listed, ListReader } from "./paged-list.ts";
import { Pager, type PagerProps } from "./pager.tsx";
import { useSelection } from "./selection.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { Table } from "./table.tsx";
import { OrderStatus } from "./table-head.tsx";

/** A list as `usePagedList` returns it. */
interface PagedList<Row> extends Listed<Row> {
  readonly order: ListOrder | undefined;
  readonly pages: PagerProps;
  readonly reader: ListReader<Row>;
}

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
  const { isShown, show } = useColumnChoice(id);
  const shown = columns.filter(isShown);
  const { from, total } = list.pages;
  const nameOf = columns[0]?.text ?? table.keyOf;
  const selection = useSelection({
    reader: list.reader,
    keyOf: table.keyOf,
    total,
    rows: list.rows ?? [],
    from: from - 1,
  });
  return (
    <>
      <Table
        {...table}
        list={list}
        columns={shown}
        {...(list.order && { order: list.order })}
        {...(actions.length > 0 && { selecting: { selection, from: from - 1, nameOf } })}
        options={<ListOptions columns={columns} isShown={isShown} onShow={show} />}
      />
      <OrderStatus columns={columns} order={list.order} />
      <Pager {...list.pages} />
      {actions.length > 0 && <SelectionBar selection={selection} total={total} actions={actions} nameOf={nameOf} />}
    </>
  );
}
