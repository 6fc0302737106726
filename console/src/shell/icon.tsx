import shapes from "virtual:icons";
import type { IconName } from "./icon-names.ts";

export type { IconName };

/** An icon in the colour of the text beside it. It says nothing to screen readers: a text must. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}
