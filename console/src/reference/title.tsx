import { type ReactNode, useEffect, useRef } from "react";

/** The heading of a page. It gets the focus after a link was followed. */
export function Title({ children }: { readonly children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${heading.current?.textContent ?? ""} – Gatehouse API`;
    if (hasNavigated) heading.current?.focus({ preventScroll: true });
    hasNavigated = true;
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

let hasNavigated = false;
