// The head of a table: columns that sort are buttons.
import type { ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import type { Column, ListOrder } from "./columns.ts";
import type { Selection, TableSelection } from "./selection.ts";
import styles from "./table.module.css";

interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly order?: ListOrder | undefined;
  /** The menu at the end of the head. */
  readonly options?: ReactNode;
  readonly selecting?: TableSelection<Row>;
  /** The rows that the box in the head selects. */
  readonly rows?: readonly Row[];
  /** Whether that box selects all rows that match, and not those of a page. */
  readonly isWhole?: boolean;
}

/** The head. It says aloud by what the list is sorted when that changes. */
export function TableHead<Row>({
  columns,
  order,
  options,
  selecting,
  rows = [],
  isWhole = false,
}: TableHeadProps<Row>) {
  return (
    <thead>
      <tr>
        {selecting && (
          <td className={styles.box}>
            {isWhole ? (
              <BoxOfList selection={selecting.selection} />
            ) : (
              <BoxOfPage selection={selecting.selection} rows={rows} />
            )}
          </td>
        )}
        {columns.map(({ title, isWide = false, sort }) => (
          <Head key={title} title={title} isWide={isWide} sort={sort} order={order} />
        ))}
        {options && <td className={styles.options}>{options}</td>}
      </tr>
    </thead>
  );
}

/** The box that selects the rows of the page. */
function BoxOfPage<Row>({ selection, rows }: { readonly selection: Selection<Row>; readonly rows: readonly Row[] }) {
  const { t } = useTexts();
  const chosen = rows.filter(selection.has).length;
  const isWhole = chosen === rows.length;
  return (
    <HeadBox
      label={t("selection.page")}
      state={isWhole ? "all" : chosen > 0 ? "some" : "none"}
      onChange={() => selection.setMany(rows, !isWhole)}
    />
  );
}

/** The box that selects all rows that match. */
function BoxOfList<Row>({ selection }: { readonly selection: Selection<Row> }) {
  const { t } = useTexts();
  const { isAll, count, selectAll, clear } = selection;
  return (
    <HeadBox
      label={t("selection.list")}
      state={isAll ? "all" : count > 0 ? "some" : "none"}
      onChange={isAll ? clear : selectAll}
    />
  );
}

interface HeadBoxProps {
  readonly label: string;
  readonly state: "all" | "some" | "none";
  readonly onChange: () => void;
}

function HeadBox({ label, state, onChange }: HeadBoxProps) {
  return (
    <label>
      <input
        type="checkbox"
        aria-label={label}
        checked={state === "all"}
        ref={(box) => {
          if (box) box.indeterminate = state === "some";
        }}
        onChange={onChange}
      />
    </label>
  );
}

interface HeadProps {
  readonly title: string;
  readonly isWide: boolean;
  readonly sort: string | undefined;
  readonly order: ListOrder | undefined;
}

function Head({ title, isWide, sort, order }: HeadProps) {
  const isDown = order?.by.endsWith(" desc");
  const isSorted = isSortedBy(sort, order);
  return (
    <th
      scope="col"
      {...(sort !== undefined && order && { "aria-sort": !isSorted ? "none" : isDown ? "descending" : "ascending" })}
      {...(isWide && { className: styles.wide })}
    >
      {sort === undefined || !order ? title : <SortButton title={title} sort={sort} order={order} />}
    </th>
  );
}

function SortButton({
  title,
  sort,
  order,
}: {
  readonly title: string;
  readonly sort: string;
  readonly order: ListOrder;
}) {
  const [field = "", direction] = order.by.split(" ");
  const isSorted = isSortedBy(sort, order);
  const isDown = direction === "desc";
  const next = isSorted ? `${field}${isDown ? "" : " desc"}` : sort;
  return (
    <button type="button" className={styles.sort} onClick={() => order.onChange(next)}>
      {title} <span aria-hidden="true">{isSorted ? (isDown ? "↓" : "↑") : "↕"}</span>
    </button>
  );
}

function isSortedBy(sort: string | undefined, order: ListOrder | undefined): boolean {
  return sort !== undefined && sort.split(" ")[0] === order?.by.split(" ")[0];
}

/** Says by which column a list is sorted, once that changes. */
export function OrderStatus<Row>({ columns, order }: Pick<TableHeadProps<Row>, "columns" | "order">) {
  const { t } = useTexts();
  const column = columns.find(({ sort }) => isSortedBy(sort, order));
  const direction = order?.by.endsWith(" desc") ? "descending" : "ascending";
  return (
    <span className="hidden" role="status">
      {column && t("list.sorted", { column: column.title, direction })}
    </span>
  );
}
