// The cells of a row of a table, and the box that selects it.
import { useTexts } from "../texts/texts.ts";
import type { Column } from "./columns.ts";
import type { TableSelection } from "./selection.ts";
import styles from "./table.module.css";

interface BoxProps<Row> extends TableSelection<Row> {
  readonly row: Row;
  readonly index: number;
}

/** The box that selects a row. With Shift it selects all rows from the last one on. */
export function Box<Row>({ row, index, selection, nameOf }: BoxProps<Row>) {
  const { t } = useTexts();
  return (
    <td className={styles.box}>
      <label>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={t("selection.row", { name: nameOf(row) })}
          checked={selection.has(row)}
          onChange={({ nativeEvent }) => {
            const isRange = (nativeEvent as Partial<MouseEvent>).shiftKey === true;
            if (isRange && selection.last !== undefined) selection.extend(selection.last, index);
            else selection.toggle(row, index);
          }}
        />
      </label>
    </td>
  );
}

interface CellsProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly hasOptions: boolean;
  /** Whether all rows have one height. */
  readonly isClipped?: boolean;
}

/** The cells of a row. The last one goes on under the menu of the head, unless it may be hidden. */
export function Cells<Row>({ row, columns, hasOptions, isClipped = false }: CellsProps<Row>) {
  const isLastHidden = columns.at(-1)?.isWide === true;
  return (
    <>
      {columns.map(({ title, cell, text, isWide, isAction }, column) => (
        <td
          key={title}
          {...(column > 0 && !isAction && { "data-label": title })}
          {...(hasOptions && !isLastHidden && column === columns.length - 1 && { colSpan: 2 })}
          {...(isWide && { className: styles.wide })}
        >
          {isClipped ? (
            <div className={styles.clip} title={text?.(row)}>
              {cell(row)}
            </div>
          ) : (
            <div className={styles.value}>{cell(row)}</div>
          )}
        </td>
      ))}
      {hasOptions && isLastHidden && <td className={styles.options} />}
    </>
  );
}
