// Menus: a button, and the list of items that it opens. The browser places, closes and stacks them as popovers.
import { Link, type LinkProps } from "@tanstack/react-router";
import { type KeyboardEvent, type MouseEvent, type ReactNode, type ToggleEvent, useId, useState } from "react";
import { flushSync } from "react-dom";
import { Icon, type IconName } from "./icon.tsx";
import styles from "./menu.module.css";

/** The properties that make a button the one of a menu. */
interface MenuButtonProps {
  readonly id: string;
  readonly popoverTarget: string;
  readonly "aria-haspopup": "menu";
  readonly "aria-expanded": boolean;
}

interface MenuProps {
  /** Returns the button with these properties. */
  readonly button: (props: MenuButtonProps) => ReactNode;
  /** The edge of the button at which the menu stands. */
  readonly align?: "start" | "end";
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A menu. The focus goes to its first item, and back to the button. Arrows, Home, End and first letters move; Esc and Tab close it. */
export function Menu({ button, align = "end", className = "", children }: MenuProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const prepare = (event: ToggleEvent<HTMLElement>) => {
    if (event.newState !== "open") return;
    flushSync(() => setOpen(true));
    // The browser focuses this item when it shows the popover.
    itemsOf(event.currentTarget)[0]?.setAttribute("autofocus", "");
  };
  return (
    <>
      {button({ id: `${id}-button`, popoverTarget: id, "aria-haspopup": "menu", "aria-expanded": isOpen })}
      <div
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-labelledby={`${id}-button`}
        data-align={align}
        className={`${styles.menu} ${className}`}
        onBeforeToggle={prepare}
        onToggle={({ newState }) => setOpen(newState === "open")}
        onKeyDown={onMenuKey}
        onClickCapture={closeByItem}
      >
        {isOpen && children}
      </div>
    </>
  );
}

interface MenuItemProps {
  readonly icon?: IconName | undefined;
  /** Whether a choice is in force; undefined for an action. The menu stays open at choices: one sees what they do. */
  readonly isChecked?: boolean;
  /** How many of the choices can be in force. */
  readonly choice?: "one" | "many";
  readonly isDenied?: boolean;
  readonly isDangerous?: boolean;
  readonly className?: string | undefined;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** An action or a choice of a menu. */
export function MenuItem(props: MenuItemProps) {
  const { icon, isChecked, choice = "many", isDenied, isDangerous = false, className = "", onClick, children } = props;
  const role = isChecked === undefined ? "menuitem" : choice === "one" ? "menuitemradio" : "menuitemcheckbox";
  return (
    <button
      {...itemProps}
      {...{ role, "aria-checked": isChecked }}
      // Not `disabled`: nobody could go there, and learn why.
      aria-disabled={isDenied}
      data-tone={isDangerous && !isDenied ? "danger" : undefined}
      type="button"
      className={`${styles.item} ${className}`}
      onClick={onClick}
    >
      {choice === "many" && isChecked !== undefined && (
        <span className={styles.check}>{isChecked && <Icon name="check" />}</span>
      )}
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

/** A link of a menu. */
export function MenuLink({ children, ...link }: Pick<LinkProps, "to" | "params"> & { readonly children: ReactNode }) {
  return (
    <Link {...link} {...itemProps} role="menuitem" className={styles.item}>
      {children}
    </Link>
  );
}

/** A line between items. */
export function MenuDivider() {
  return <hr className={styles.divider} />;
}

/** Arrows lead to items, not Tab; and a dialog of Mantine around the menu leaves Escape to it. */
const itemProps = { tabIndex: -1, "data-mantine-stop-propagation": "true" };

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>("[role^=menuitem]")];
}

/** Closes the menu, which gives the focus back to its button, before an action takes it elsewhere. */
function closeByItem({ target, currentTarget }: MouseEvent<HTMLElement>): void {
  if (target instanceof Element && target.closest("[role=menuitem]")) currentTarget.hidePopover();
}

function onMenuKey(event: KeyboardEvent<HTMLElement>): void {
  // The keys of the page and of the row act outside of menus only.
  event.stopPropagation();
  const { key, currentTarget: menu } = event;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  // The focus is on the button again when the browser moves it on.
  if (key === "Tab") menu.hidePopover();
  const items = itemsOf(menu);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = nextItem(items, at, key);
  if (next) next.focus();
  // A link has no such key by itself.
  else if (key === " " && items[at] instanceof HTMLAnchorElement) items[at].click();
  else return;
  event.preventDefault();
}

function nextItem(items: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  const { length } = items;
  if (key === "ArrowDown" || key === "ArrowRight") return items[(at + 1) % length];
  if (key === "ArrowUp" || key === "ArrowLeft") return items[(Math.max(at, 0) + length - 1) % length];
  if (key === "Home") return items[0];
  if (key === "End") return items[length - 1];
  if (key.length !== 1 || key === " ") return undefined;
  const letter = key.toLowerCase();
  return [...items.slice(at + 1), ...items.slice(0, at + 1)].find((one) =>
    one.textContent.trim().toLowerCase().startsWith(letter),
  );
}
