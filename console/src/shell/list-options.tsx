// The menu at the head of a list: which columns it shows, and the whole list as a file.
import { ActionIcon, Menu } from "@mantine/core";
import { useTexts } from "../texts/texts.ts";
import type { Column } from "./columns.ts";
import { Icon } from "./icon.tsx";

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
    <Menu withinPortal={false} withInitialFocusPlaceholder={false} position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" size="md" aria-label={t("list.columns")} title={t("list.columns")}>
          <Icon name="sliders" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map((column) => (
          <Menu.CheckboxItem
            key={column.id}
            checked={isShown(column)}
            onChange={(isWanted) => onShow(column.id!, isWanted)}
          >
            {column.title}
          </Menu.CheckboxItem>
        ))}
        {onSave && (
          <>
            {choices.length > 0 && <Menu.Divider />}
            <Menu.Item onClick={onSave}>{t("list.csv", { count: total })}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
