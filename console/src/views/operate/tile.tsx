import type { ReactNode } from "react";

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
    <section className="tile" aria-label={title}>
      <span className="muted">{title}</span>
      <strong>{value}</strong>
      <span>{children}</span>
    </section>
  );
}
