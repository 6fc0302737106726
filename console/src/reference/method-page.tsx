// A method: what it does, who may call it, its request, its response and its errors.
import { useTexts } from "../texts/texts.ts";
import { addressOf } from "./address.ts";
import { type Grpc, type Method, type OpenApi, type Operation, operationOf, useDocument } from "./documents.ts";
import { chosenLanguage } from "./language-memory.ts";
import { methodMarkdown } from "./markdown.ts";
import { Breakable, Code, CopyButton, Description, Go, Verb } from "./parts.tsx";
import { FieldLine, Fields, hasFields } from "./schema.tsx";
import { Title } from "./title.tsx";
import { TryIt } from "./try-it.tsx";

/** The page of a method. */
export function MethodPage({
  grpc,
  service,
  method,
}: {
  readonly grpc: Grpc;
  readonly service: string;
  readonly method: Method;
}) {
  const { t } = useTexts();
  const { data: document, error } = useDocument<OpenApi>(grpc.services[service]!.document);
  const operation = document && operationOf(document, service, method);
  const { origin } = location;
  const copied = (of: OpenApi) =>
    methodMarkdown({ origin, grpc, document: of, service, method, operation }, chosenLanguage({ grpc, service }), t);
  return (
    <>
      <p className="path">
        <Go to={addressOf(service)}>
          <Breakable name={service} />
        </Go>
      </p>
      <div className="row">
        <Title>{method.name}</Title>
        {document && (
          <CopyButton text={() => copied(document)} label={t("reference.copyMarkdown")}>
            {t("reference.copyMarkdown")}
          </CopyButton>
        )}
      </div>
      <div className="stack">
        <Description text={method.description} />
        <Access {...method.access} />
        <ul className="routes">
          {method.routes.map((route) => (
            <li key={`${route.method} ${route.path}`}>
              <Verb name={route.method} />{" "}
              <code>
                <Breakable name={route.path} />
              </code>
            </li>
          ))}
        </ul>
        {error && (
          <p className="danger" role="alert">
            {t("reference.failed", { problem: error.message })}
          </p>
        )}
      </div>
      {document && (
        <div className="method">
          <div className="stack">
            <Request operation={operation} document={document} />
            <Reply operation={operation} document={document} />
            <Errors operation={operation} document={document} />
            <GrpcSignature service={service} method={method} />
          </div>
          <section className="stack try" aria-labelledby="try">
            <h2 id="try">{t("reference.try")}</h2>
            <TryIt key={`${service}/${method.name}`} {...{ grpc, document, service, method, operation }} />
            <ReplyExample operation={operation} />
          </section>
        </div>
      )}
    </>
  );
}

function Access({ type, capabilities = [], scope }: Method["access"]) {
  const { t } = useTexts();
  if (type !== "token")
    return <p className="muted">{t(type === "open" ? "reference.open" : "reference.credential")}</p>;
  if (capabilities.length === 0) return <p className="muted">{t("reference.token")}</p>;
  return (
    <p>
      {t("reference.needs")}{" "}
      {capabilities.map((one) => (
        <code key={one}>{one} </code>
      ))}
      {scope === undefined ? (
        t("reference.anywhere")
      ) : (
        <>
          {t("reference.at")} <code>{scope}</code>
        </>
      )}
    </p>
  );
}

interface Shown {
  readonly operation: Operation | undefined;
  readonly document: OpenApi;
}

function Request({ operation, document }: Shown) {
  const { t } = useTexts();
  const { parameters = [], requestBody } = operation ?? {};
  const body = requestBody?.content["application/json"]?.schema;
  if (parameters.length === 0 && !(body && hasFields(body, document))) return null;
  return (
    <section aria-labelledby="request">
      <h2 id="request">{t("reference.request")}</h2>
      {(["path", "query"] as const).map((place) => {
        const own = parameters.filter((one) => one.in === place);
        if (own.length === 0) return null;
        return (
          <div key={place}>
            <h3>{t(`reference.in.${place}`)}</h3>
            <ul className="fields">
              {own.map(({ name, schema, required = false, description = "" }) => (
                <FieldLine key={name} {...{ name, schema, description, document }} isRequired={required} />
              ))}
            </ul>
          </div>
        );
      })}
      {body && hasFields(body, document) && (
        <>
          <h3>{t("reference.in.body")}</h3>
          <Fields schema={body} document={document} />
        </>
      )}
    </section>
  );
}

function Reply({ operation, document }: Shown) {
  const { t } = useTexts();
  const schema = operation?.responses["200"]?.content?.["application/json"]?.schema;
  return (
    <section aria-labelledby="response">
      <h2 id="response">{t("reference.response")}</h2>
      {schema && hasFields(schema, document) ? (
        <Fields schema={schema} document={document} />
      ) : (
        <p className="muted">{t("reference.empty")}</p>
      )}
    </section>
  );
}

function ReplyExample({ operation }: Pick<Shown, "operation">) {
  const { t } = useTexts();
  const example = operation?.responses["200"]?.content?.["application/json"]?.example;
  if (example === undefined) return null;
  return (
    <>
      <h3>{t("reference.example")}</h3>
      <Code text={JSON.stringify(example, null, 2)} label={t("reference.example")} />
    </>
  );
}

function Errors({ operation, document }: Shown) {
  const { t } = useTexts();
  const errors = Object.entries(operation?.responses ?? {}).filter(([status]) => /^[45]/.test(status));
  if (errors.length === 0) return null;
  return (
    <section aria-labelledby="errors">
      <h2 id="errors">{t("reference.errors")}</h2>
      <dl className="facts">
        {errors.map(([status, { $ref, description }]) => (
          <div key={status} className="contents">
            <dt>{status}</dt>
            <dd>
              <Description
                text={description ?? document.components.responses[$ref?.split("/").at(-1) ?? ""]?.description ?? ""}
              />
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <a href="/docs/reference/errors">{t("reference.allErrors")}</a>
      </p>
    </section>
  );
}

function GrpcSignature({ service, method }: { readonly service: string; readonly method: Method }) {
  const type = (name: string) => (
    <Go to={addressOf(name)}>
      <Breakable name={name} />
    </Go>
  );
  return (
    <section aria-labelledby="grpc">
      <h2 id="grpc">gRPC</h2>
      <p>
        <code>
          /<Breakable name={`${service}/${method.name}`} />
        </code>
      </p>
      <p>
        {type(method.input)} → {type(method.output)}
      </p>
    </section>
  );
}
