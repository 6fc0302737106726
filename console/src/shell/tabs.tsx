// Tabs of a view. Each has an address, so they are links.
import { Link, type LinkProps } from "@tanstack/react-router";
import styles from "./tabs.module.css";

/** A tab. */
export interface Tab {
  readonly text: string;
  readonly to: LinkProps["to"];
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string>>;
  readonly isCurrent: boolean;
}

/** Links to the parts of a view. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map(({ text, to, params = {}, search = {}, isCurrent }) => (
        <Link
          key={text}
          {...({ to, params, search } as LinkProps)}
          activeProps={{}}
          aria-current={isCurrent ? "page" : "false"}
          data-current={isCurrent}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}
