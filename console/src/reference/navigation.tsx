// The navigation of the reference: the services by domain, or what a search has found.
import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { addressOf, open, usePlace } from "./address.ts";
import type { Grpc } from "./documents.ts";
import { type NamedService, servicesByDomain, shortName } from "./domains.ts";
import { Breakable, Go } from "./parts.tsx";
import { search } from "./search.ts";
import { type Version, versions } from "./versions.ts";

/** The search with its results, or the services. `/` goes to the search, the arrows through the results. */
export function Navigation({
  grpc,
  version,
  onVersion,
  onSearch,
}: {
  readonly grpc: Grpc;
  readonly version: Version;
  readonly onVersion: (version: Version) => void;
  /** Shows the navigation, before the search gets the focus. */
  readonly onSearch: () => void;
}) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const text = useDeferredValue(typed.trim());
  const input = useRef<HTMLInputElement>(null);
  useSlash(() => {
    onSearch();
    // On a narrow screen the field is hidden before.
    requestAnimationFrame(() => input.current?.focus());
  });
  const handleKey = (event: KeyboardEvent<HTMLElement>) => {
    const controls = [input.current!, ...event.currentTarget.querySelectorAll<HTMLElement>("a.found")];
    const at = controls.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    const first = controls[1] as HTMLAnchorElement | undefined;
    if (event.key === "ArrowDown") controls[at + 1]?.focus();
    else if (event.key === "ArrowUp") controls[at - 1]?.focus();
    else if (event.key === "Enter" && at === 0 && first) open(first.pathname);
    else if (event.key === "Escape" && typed !== "") {
      setTyped("");
      input.current?.focus();
    } else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field and the links in it
    <div onKeyDown={handleKey}>
      <label className="field">
        {t("reference.search")}
        <input
          ref={input}
          className="input"
          type="search"
          aria-keyshortcuts="/"
          value={typed}
          placeholder={t("reference.search.example")}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <label className="field">
        {t("reference.version")}
        <select className="select" value={version} onChange={({ target }) => onVersion(target.value as Version)}>
          <option value="current">{t("reference.current")}</option>
          <option value="v2">v2</option>
          <option value="v1">v1</option>
        </select>
      </label>
      {text === "" ? (
        [...servicesByDomain(grpc, versions[version])].map(([domain, services]) => (
          <section key={domain}>
            <h2>{t(`reference.domain.${domain}`)}</h2>
            <ul>
              {services.map((service) => (
                <ServiceLink key={service[0]} service={service} />
              ))}
            </ul>
          </section>
        ))
      ) : (
        <Results grpc={grpc} documents={versions[version]} text={text} />
      )}
    </div>
  );
}

/** Calls a function for `/`, unless somebody types. */
function useSlash(onSlash: () => void): void {
  const latest = useRef(onSlash);
  latest.current = onSlash;
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest?.("input, textarea, select, dialog[open]");
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}

function ServiceLink({ service: [name, { methods }] }: { readonly service: NamedService }) {
  const place = usePlace();
  return (
    <li>
      <Go to={addressOf(name)} isCurrent={place.name === name && place.method === ""}>
        <span>
          <Breakable name={shortName(name)} />
        </span>
      </Go>
      {place.name === name && (
        <ul className="methods">
          {methods.map((method) => (
            <li key={method.name}>
              <Go to={addressOf(name, method.name)} isCurrent={place.method === method.name}>
                <span>
                  <Breakable name={method.name} />
                </span>
              </Go>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Results({
  grpc,
  documents,
  text,
}: {
  readonly grpc: Grpc;
  readonly documents: readonly string[];
  readonly text: string;
}) {
  const { t } = useTexts();
  const found = search(grpc, documents, text);
  return (
    <>
      <p className="hidden" role="status">
        {t("reference.found", { count: found.length })}
      </p>
      {found.length === 0 && <p className="muted">{t("reference.nothing", { text })}</p>}
      <ul>
        {found.map(({ name, method = "", where }) => (
          <li key={`${name}/${method}/${where}`}>
            <Go to={addressOf(name, method)} className="found">
              <strong>
                <Breakable name={method === "" ? shortName(name) : method} />
              </strong>
              <span className="muted small">
                <Breakable name={where === "" ? name : where} />
              </span>
            </Go>
          </li>
        ))}
      </ul>
    </>
  );
}
