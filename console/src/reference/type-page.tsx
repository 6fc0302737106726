// A message or an enum of gRPC, and the methods that use it.
import { useTexts } from "../texts/texts.ts";
import { addressOf } from "./address.ts";
import type { Field, Grpc, Type } from "./documents.ts";
import { Breakable, Description, Go } from "./parts.tsx";
import { Title } from "./title.tsx";

/** The page of a type. */
export function TypePage({ grpc, name, type }: { readonly grpc: Grpc; readonly name: string; readonly type: Type }) {
  const { t } = useTexts();
  const users = Object.entries(grpc.services).flatMap(([service, { methods }]) =>
    methods.filter(({ input, output }) => input === name || output === name).map((method) => ({ service, method })),
  );
  return (
    <div className="stack">
      <p className="path">
        <Breakable name={name.slice(0, name.lastIndexOf("."))} />
      </p>
      <Title>{name.split(".").at(-1)}</Title>
      <p className="muted">{t(type.values ? "reference.enum" : "reference.message")}</p>
      <Description text={type.description} />
      <ul className="fields">
        {type.fields?.map((field) => (
          <GrpcField key={field.name} field={field} />
        ))}
        {type.values?.map(({ name: value, number, description }) => (
          <li key={value} className="field-line">
            <div className="row">
              <code className="name">{value}</code> <span className="muted">= {number}</span>
            </div>
            <Description text={description} />
          </li>
        ))}
      </ul>
      {users.length > 0 && (
        <section>
          <h2>{t("reference.usedBy")}</h2>
          <ul className="fields">
            {users.map(({ service, method }) => (
              <li key={`${service}/${method.name}`}>
                <Go to={addressOf(service, method.name)}>
                  <Breakable name={`${service}/${method.name}`} />
                </Go>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function GrpcField({ field }: { readonly field: Field }) {
  const { t } = useTexts();
  const { name, number, type, message, enum: values, isRepeated, isRequired, oneof, description } = field;
  const target = message ?? values;
  return (
    <li className="field-line">
      <div className="row">
        <code className="name">{name}</code>
        <span className="muted">
          {isRepeated && "repeated "}
          {target === undefined ? (
            type
          ) : (
            <Go to={addressOf(target)}>
              <Breakable name={type} />
            </Go>
          )}{" "}
          = {number}
        </span>
        {isRequired && <span className="danger">{t("reference.required")}</span>}
        {field.isOutputOnly && <span className="muted">{t("reference.readOnly")}</span>}
        {field.isInputOnly && <span className="muted">{t("reference.writeOnly")}</span>}
        {oneof !== undefined && <span className="muted">{t("reference.oneof", { name: oneof })}</span>}
      </div>
      <Description text={description} />
    </li>
  );
}
