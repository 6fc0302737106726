// A list as views show it: the table, the menu of its columns, and the way to its other pages.
import type { ReactNode } from "react";
import { type Column, type ListOrder, useColumnChoice } from "./columns.ts";
import { ListOptions } from "./list-options.tsx";
import type { Listed } from "./paged-list.ts";
import { Pager, type PagerProps } from "./pager.tsx";
import { Table } from "./table.tsx";
import { OrderStatus } from "./table-head.tsx";

interface ListProps<Row> {
  /** The name under which this browser remembers the columns. */
  readonly id: string;
  /** The name of the table, for screen readers. */
  readonly label: string;
  readonly list: Listed<Row> & { readonly order: ListOrder | undefined; readonly pages: PagerProps };
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The key of the row that the view shows next to the table. */
  readonly selected?: string;
  /** Shown in the place of an empty table. */
  readonly empty: ReactNode;
}

/** The list. `usePagedList` reads it. */
export function List<Row>({ id, list, columns, ...table }: ListProps<Row>) {
  const { isShown, show } = useColumnChoice(id);
  const shown = columns.filter(isShown);
  return (
    <>
      <Table
        {...table}
        list={list}
        columns={shown}
        {...(list.order && { order: list.order })}
        options={<ListOptions columns={columns} isShown={isShown} onShow={show} />}
      />
      <OrderStatus columns={columns} order={list.order} />
      <Pager {...list.pages} />
    </>
  );
}
