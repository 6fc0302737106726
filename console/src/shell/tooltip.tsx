// Short texts beside what has the focus or the pointer.
import { type ReactNode, useState } from "react";
import styles from "./tooltip.module.css";

/** Shows a text while the pointer or the focus is on the content. Esc hides it. It says nothing to screen readers: a description must. */
export function Tooltip({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const show = () => setOpen(true);
  const hide = () => setOpen(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is in it has the focus.
    <span className={styles.target} onPointerEnter={show} onPointerLeave={hide} onFocus={show} onBlur={hide}>
      {children}
      {isOpen && (
        <span
          ref={(element) => element?.showPopover({ source: element.parentElement! })}
          popover="hint"
          role="tooltip"
          className={styles.tooltip}
          onToggle={({ newState }) => newState === "closed" && hide()}
        >
          {text}
        </span>
      )}
    </span>
  );
}
