// Small parts of the reference.
import { type ReactNode, useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { open } from "./address.ts";

/** A link inside the reference. */
export function Go({
  to,
  isCurrent = false,
  className,
  children,
}: {
  readonly to: string;
  readonly isCurrent?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <a
      href={to}
      className={className}
      {...(isCurrent && { "aria-current": "page" })}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        open(to);
      }}
    >
      {children}
    </a>
  );
}

/** A comment of a proto file: paragraphs, lists and code. */
export function Description({ text }: { readonly text: string }) {
  if (text === "") return null;
  return (
    <>
      {text.split(/\n\n+/).map((paragraph) => {
        const lines = paragraph.split("\n");
        const items = lines.filter((line) => line.startsWith("- "));
        const lead = lines.filter((line) => !line.startsWith("- ")).join(" ");
        return (
          <div key={paragraph} className="text">
            {lead !== "" && (
              <p>
                <Inline text={lead} />
              </p>
            )}
            {items.length > 0 && (
              <ul>
                {items.map((item) => (
                  <li key={item}>
                    <Inline text={item.slice(2)} />
                  </li>
                ))}
              </ul>
            )}
          </div>
        );
      })}
    </>
  );
}

function Inline({ text }: { readonly text: string }) {
  const parts = text.split("`").map((part, place) => ({ part, place }));
  return parts.map(({ part, place }) => (place % 2 === 1 ? <code key={place}>{part}</code> : part));
}

/** Code with a button that copies it. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  const { t } = useTexts();
  return (
    <div className="code">
      <CopyButton text={() => text} label={t("action.copy", { what: label })}>
        {t("reference.copy")}
      </CopyButton>
      <Pre text={text} />
    </div>
  );
}

/** A button that copies a text, and says so. The text is made when it is pressed. */
export function CopyButton({
  text,
  label,
  children,
}: {
  readonly text: () => string;
  readonly label: string;
  readonly children: string;
}) {
  const { t } = useTexts();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" className="plain" aria-label={label} onClick={() => void copy()}>
      <span role="status">{isCopied ? `✓ ${t("action.copied")}` : children}</span>
    </button>
  );
}

/** Code that scrolls by itself, also by keyboard. */
export function Pre({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: axe-core, scrollable-region-focusable
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
}

/** The method of HTTP, as a label. */
export function Verb({ name }: { readonly name: string }) {
  return <span className={`verb ${name === "GET" ? "read" : "write"}`}>{name}</span>;
}

/** Makes it possible to break a long name after a dot or a word. */
export function Breakable({ name }: { readonly name: string }) {
  return name.split(/(?<=[./_])|(?<=[a-z])(?=[A-Z])/).map((part, place) => (
    <span key={place}>
      {part}
      <wbr />
    </span>
  ));
}
