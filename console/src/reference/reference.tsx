// The frame of the reference: services and search on the left, a method or a type in the middle.
import { useEffect, useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { addressOf, usePlace } from "./address.ts";
import { type Grpc, useDocument } from "./documents.ts";
import { servicesByDomain, shortName } from "./domains.ts";
import { MethodPage } from "./method-page.tsx";
import { Navigation } from "./navigation.tsx";
import { Breakable, Description, Go, Verb } from "./parts.tsx";
import { Title } from "./title.tsx";
import { TypePage } from "./type-page.tsx";
import { type Version, versions } from "./versions.ts";

/** The page. */
export function Reference() {
  const { t } = useTexts();
  const { data: grpc, error } = useDocument<Grpc>("grpc");
  const place = usePlace();
  const [chosen, setVersion] = useState<Version>();
  const [isOpen, setOpen] = useState(false);
  const version = chosen ?? versionOf(grpc, place.name);
  // A link was followed: on a narrow screen the navigation would cover what it leads to.
  useEffect(() => setOpen(false), [place.name, place.method]);
  return (
    <>
      <a className="skip" href="#content">
        {t("app.skip")}
      </a>
      <div className="shell guides">
        <header className="top">
          <a className="brand" href="/console/">
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="M1 2h14v3H1zM3 6h3v8H3zM10 6h3v8h-3z" />
            </svg>
            Gatehouse
          </a>
          <div className="grow" />
          <a href="/docs/">{t("reference.guides")}</a>
          <Go to={addressOf()} isCurrent>
            API
          </Go>
          <a href="/console/">{t("reference.console")}</a>
        </header>
        <nav className="nav" aria-label={t("reference.services")}>
          <button type="button" className="plain burger-text" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t("reference.services")}
          </button>
          <div className={isOpen ? "listing open" : "listing"}>
            {grpc && <Navigation {...{ grpc, version }} onVersion={setVersion} onSearch={() => setOpen(true)} />}
          </div>
        </nav>
        <main className="main reference" id="content" tabIndex={-1}>
          {error && (
            <p className="danger" role="alert">
              {t("reference.failed", { problem: error.message })}
            </p>
          )}
          {grpc && <Content key={`${place.name}/${place.method}`} grpc={grpc} version={version} {...place} />}
        </main>
      </div>
    </>
  );
}

/** Returns the version of a service or type; the current one for everything that several versions have. */
function versionOf(grpc: Grpc | undefined, name: string): Version {
  const document = grpc?.services[name]?.document;
  if (document === "v1" || document === "v2") return document;
  return /\.v2\.[A-Z]/.test(name) ? "v2" : "current";
}

function Content({
  grpc,
  version,
  name,
  method,
}: {
  readonly grpc: Grpc;
  readonly version: Version;
  readonly name: string;
  readonly method: string;
}) {
  const { t } = useTexts();
  const service = Object.hasOwn(grpc.services, name) ? grpc.services[name] : undefined;
  const type = Object.hasOwn(grpc.types, name) ? grpc.types[name] : undefined;
  const found = service?.methods.find((one) => one.name === method);
  if (name === "") return <Introduction grpc={grpc} version={version} />;
  if (found) return <MethodPage grpc={grpc} service={name} method={found} />;
  if (service && method === "") return <ServicePage grpc={grpc} name={name} />;
  if (type && method === "") return <TypePage grpc={grpc} name={name} type={type} />;
  return (
    <div className="stack">
      <Title>{t("state.notFound.title")}</Title>
      <p>{t("reference.unknown", { name: method === "" ? name : `${name}/${method}` })}</p>
    </div>
  );
}

function Introduction({ grpc, version }: { readonly grpc: Grpc; readonly version: Version }) {
  const { t } = useTexts();
  const documents: readonly string[] = versions[version];
  return (
    <div className="stack">
      <Title>{t("reference.title")}</Title>
      <p>{t("reference.lead")}</p>
      <dl className="facts">
        <dt>{t("reference.address")}</dt>
        <dd>
          <code>{location.origin}</code>
        </dd>
        <dt>OpenAPI 3.1</dt>
        <dd className="row">
          {documents.map((name) => (
            <a key={name} href={`/openapi/${name}.json`}>
              {name}.json
            </a>
          ))}
        </dd>
        <dt>{t("reference.guides")}</dt>
        <dd className="row">
          <a href="/docs/reference/api">{t("reference.conventions")}</a>
          <a href="/docs/clients">{t("reference.clients")}</a>
        </dd>
      </dl>
      <h2>{t("reference.services")}</h2>
      {[...servicesByDomain(grpc, documents)].map(([domain, services]) => (
        <section key={domain}>
          <h3>{t(`reference.domain.${domain}`)}</h3>
          <ul className="fields">
            {services.map(([name, { description }]) => (
              <li key={name} className="field-line">
                <Go to={addressOf(name)}>
                  <strong>{shortName(name)}</strong>
                </Go>{" "}
                <span className="muted">
                  <Breakable name={name.slice(0, name.lastIndexOf("."))} />
                </span>
                <Description text={description} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function ServicePage({ grpc, name }: { readonly grpc: Grpc; readonly name: string }) {
  const { description, methods } = grpc.services[name]!;
  return (
    <div className="stack">
      <p className="path">
        <Breakable name={name.slice(0, name.lastIndexOf("."))} />
      </p>
      <Title>{name.split(".").at(-1)}</Title>
      <Description text={description} />
      <ul className="fields">
        {methods.map((method) => (
          <li key={method.name} className="field-line">
            <div className="row">
              <Go to={addressOf(name, method.name)}>
                <strong>{method.name}</strong>
              </Go>
              {method.routes[0] && (
                <span className="muted">
                  <Verb name={method.routes[0].method} />{" "}
                  <code>
                    <Breakable name={method.routes[0].path} />
                  </code>
                </span>
              )}
            </div>
            <Description text={method.description} />
          </li>
        ))}
      </ul>
    </div>
  );
}
