// Small parts that all views share.

import type { DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { ActionIcon, Button } from "@mantine/core";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { type Commands, commandsOf } from "../api/copy-as.ts";
import { agoText, timeText, useTexts } from "../texts/texts.ts";
import { type Shortcut, usePageAction } from "./actions.ts";
import { noteView } from "./first-view.ts";
import { Icon } from "./icon.tsx";
import { Menu, MenuItem } from "./menu.tsx";
import { notify } from "./toast.tsx";
import { Tooltip } from "./tooltip.tsx";

/** The heading of a view. It gets the focus when the view opens, unless a dialog that was opened meanwhile has it. */
export function Heading({ children }: { readonly children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    noteView();
    document.title = `${heading.current?.textContent ?? ""} – Gatehouse`;
    if (document.querySelector('[role="dialog"]') === null) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

/** A time relative to now, with the exact one in a tooltip. */
export function Ago({ time }: { readonly time: Date }) {
  const { locale } = useTexts();
  return (
    <time dateTime={time.toISOString()} title={timeText(time, locale)}>
      {agoText(time, locale)}
    </time>
  );
}

/** Marks a person whom an identity provider has deactivated: their role bindings have no effect. */
export function Suspended() {
  const { t } = useTexts();
  return (
    <span className="row warning">
      <Icon name="blocked" /> {t("person.suspended")}
    </span>
  );
}

/** A text in a monospaced font, with a button that copies it. */
export function Copyable({
  value,
  what,
  shown = value,
}: {
  readonly value: string;
  readonly what: string;
  readonly shown?: string;
}) {
  const { t } = useTexts();
  return (
    <span className={shown === value ? "row" : "row whole"}>
      <code title={value}>{shown}</code>
      <Button
        size="compact-xs"
        variant="subtle"
        aria-label={t("action.copy", { what })}
        onClick={() => void copy(value, t("action.copied"))}
      >
        <Icon name="copy" />
      </Button>
    </span>
  );
}

/** Lines of a file or of commands, to copy. */
export function Code({ text, what }: { readonly text: string; readonly what: string }) {
  const { t } = useTexts();
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1: what scrolls is reachable by keyboard. */}
      <section tabIndex={0} aria-label={what}>
        <pre>{text}</pre>
      </section>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t("action.copy", { what })}
        onClick={() => void copy(text, t("action.copied"))}
      >
        {t("action.copy", { what: "" })}
      </Button>
    </div>
  );
}

async function copy(value: string, done: string): Promise<void> {
  await navigator.clipboard.writeText(value);
  notify(done);
}

/** The menu that copies a call as a command. */
export function CopyAs<M extends DescMethodUnary>({
  method,
  request,
}: {
  readonly method: M;
  readonly request: MessageInitShape<M["input"]>;
}) {
  const { t } = useTexts();
  const names = ["curl", "grpcurl", "gatehouse"] satisfies (keyof Commands)[];
  return (
    <Menu
      button={(props) => (
        <ActionIcon
          {...props}
          variant="subtle"
          size="lg"
          aria-keyshortcuts="c"
          aria-label={t("action.copyAs")}
          title={t("action.copyAs")}
        >
          <Icon name="code" />
        </ActionIcon>
      )}
    >
      {names.map((name) => (
        <MenuItem key={name} onClick={() => void copy(commandsOf(method, request)[name], t("action.copied"))}>
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}

/** A button for an action. If the caller may not do it, it says which capabilities are missing. */
export function ActionButton({
  missing,
  onClick,
  color,
  variant = "default",
  shortcut,
  children,
}: {
  readonly missing: readonly string[];
  readonly onClick: () => void;
  readonly color?: string;
  readonly variant?: string;
  /** The key that does the same. */
  readonly shortcut?: Shortcut;
  readonly children: ReactNode;
}) {
  const { t } = useTexts();
  const reason = useId();
  const isDenied = missing.length > 0;
  const text = t("state.missing", { capabilities: missing.join(", ") });
  usePageAction({ text: typeof children === "string" ? children : "", missing, act: onClick });
  // Not `disabled`: a disabled button has no focus, and nobody could learn why.
  const button = (
    <Button
      variant={variant}
      size="sm"
      {...(color !== undefined && { color })}
      {...(shortcut !== undefined && { "aria-keyshortcuts": shortcut })}
      aria-disabled={isDenied}
      data-disabled={isDenied}
      {...(isDenied && { "aria-describedby": reason })}
      onClick={() => (isDenied ? notify(text) : onClick())}
    >
      {children}
    </Button>
  );
  if (!isDenied) return button;
  return (
    <Tooltip text={text}>
      {button}
      <span id={reason} className="hidden">
        {text}
      </span>
    </Tooltip>
  );
}

/** Lines in the place of content that is being read. */
export function Loading({ lines = 5 }: { readonly lines?: number }) {
  return (
    <div aria-busy="true">
      {Array.from({ length: lines }, (_, index) => index).map((line) => (
        <div key={line} className="bone" />
      ))}
    </div>
  );
}

/** Returns a value that follows another one after a pause. */
export function useDelayed<T>(value: T, pauseMs: number): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return delayed;
}
