// The menu of a view or row with the actions that have no button of their own.
import { ActionIcon } from "@mantine/core";
import { useTexts } from "../texts/texts.ts";
import styles from "./action-menu.module.css";
import { type Shortcut, usePageAction } from "./actions.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Menu, MenuItem } from "./menu.tsx";
import { notify } from "./toast.tsx";

/** An action of the menu. */
export interface MenuAction {
  readonly text: string;
  readonly icon?: IconName;
  /** The capabilities that the caller lacks for it. */
  readonly missing: readonly string[];
  /** The key that does the same, also while the menu is closed. */
  readonly shortcut?: Shortcut;
  /** True for an action that takes something away. */
  readonly isDangerous?: boolean;
  readonly onClick: () => void;
}

/** The button with three dots, and its menu. An action that the caller may not do stays there, with what is missing. */
export function ActionMenu({
  label,
  actions,
  isInRow = false,
}: {
  readonly label: string;
  readonly actions: readonly MenuAction[];
  readonly isInRow?: boolean;
}) {
  return (
    <>
      {actions.map((action) => (
        <Offer key={action.text} {...action} />
      ))}
      <Menu
        button={(props) => (
          <ActionIcon
            {...props}
            variant={isInRow ? "subtle" : "default"}
            size={isInRow ? "md" : "lg"}
            aria-label={label}
            title={label}
          >
            <Icon name="kebab-horizontal" />
          </ActionIcon>
        )}
      >
        {actions.map((action) => (
          <Item key={action.text} {...action} />
        ))}
      </Menu>
    </>
  );
}

/** Offers an action in the palette and to its key. */
function Offer({ text, missing, shortcut, onClick }: MenuAction) {
  usePageAction({ text, missing, act: onClick, shortcut });
  return null;
}

function Item({ text, icon, missing, isDangerous = false, onClick }: MenuAction) {
  const { t } = useTexts();
  const isDenied = missing.length > 0;
  const reason = t("state.missing", { capabilities: missing.join(", ") });
  return (
    <MenuItem
      icon={icon}
      isDenied={isDenied}
      isDangerous={isDangerous}
      onClick={() => (isDenied ? notify(reason) : onClick())}
    >
      {text}
      {isDenied && <span className={styles.reason}>{reason}</span>}
    </MenuItem>
  );
}
