import type { ReactNode } from "react";
import tileStyles from "../../shell/tiles.module.css";

/** A fact about the installation. */
export function Tile({
  title,
  value,
  children,
}: {
  readonly title: string;
  readonly value: string;
  readonly children: ReactNode;
}) {
  return (
    <section className={tileStyles.tile} aria-label={title}>
      <span className="muted">{title}</span>
      <strong>{value}</strong>
      <span>{children}</span>
    </section>
  );
}
