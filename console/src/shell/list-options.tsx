// The menu at the head of a list: which columns it shows, and the whole list as a file.
import { ActionIcon } from "@mantine/core";
import { useTexts } from "../texts/texts.ts";
import type { Column } from "./columns.ts";
import { Icon } from "./icon.tsx";
import { Menu, MenuDivider, MenuItem } from "./menu.tsx";

interface ListOptionsProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly isShown: (column: Pick<Column<Row>, "id" | "isExtra">) => boolean;
  readonly onShow: (id: string, isShown: boolean) => void;
  /** Saves the whole list as a file; undefined if no column has a text. */
  readonly onSave: (() => void) | undefined;
  readonly total: number;
}

/** The menu. Columns without an id cannot be hidden. */
export function ListOptions<Row>({ columns, isShown, onShow, onSave, total }: ListOptionsProps<Row>) {
  const { t } = useTexts();
  const choices = columns.filter(({ id }) => id !== undefined);
  if (choices.length === 0 && !onSave) return null;
  return (
    <Menu
      button={(props) => (
        <ActionIcon {...props} variant="subtle" size="md" aria-label={t("list.columns")} title={t("list.columns")}>
          <Icon name="sliders" />
        </ActionIcon>
      )}
    >
      {choices.map((column) => (
        <MenuItem key={column.id} isChecked={isShown(column)} onClick={() => onShow(column.id!, !isShown(column))}>
          {column.title}
        </MenuItem>
      ))}
      {onSave && (
        <>
          {choices.length > 0 && <MenuDivider />}
          <MenuItem onClick={onSave}>{t("list.csv", { count: total })}</MenuItem>
        </>
      )}
    </Menu>
  );
}
