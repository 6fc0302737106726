import styles from "./command.module.css";
import { Copyable } from "./parts.tsx";

/** A command of one line in a box, with a button that copies it. */
export function Command({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div className={styles.command} data-command>
      <Copyable value={text} what={what} />
    </div>
  );
}
