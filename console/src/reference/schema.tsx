// The fields of a message by its JSON schema, with their rules.
import { useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { type OpenApi, resolve, type Schema } from "./documents.ts";
import { Description } from "./parts.tsx";

/** A field with its type and its rules. Fields of a message in it are shown on request: messages may contain themselves. */
export function FieldLine({
  name,
  schema,
  isRequired,
  description = schema.description ?? "",
  document,
}: {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly description?: string;
  readonly document: OpenApi;
}) {
  const { t } = useTexts();
  const inner = innerOf(document, schema);
  return (
    <li className="field-line">
      <div className="row">
        <code className="name">{name}</code>
        <span className="muted">{typeText(document, schema)}</span>
        {isRequired && <span className="danger">{t("reference.required")}</span>}
        {schema.readOnly && <span className="muted">{t("reference.readOnly")}</span>}
        {schema.deprecated && <span className="warning">{t("reference.deprecated")}</span>}
      </div>
      <Description text={description} />
      <Rules schema={inner.values ? { ...schema, enum: inner.values } : (schema.items ?? schema)} outer={schema} />
      {inner.properties && <Inner name={inner.name} schema={inner.schema} document={document} />}
    </li>
  );
}

function Inner({
  name,
  schema,
  document,
}: {
  readonly name: string;
  readonly schema: Schema;
  readonly document: OpenApi;
}) {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("reference.fieldsOf", { name })}</summary>
      {isOpen && <Fields schema={schema} document={document} />}
    </details>
  );
}

/** The fields of a schema. */
export function Fields({ schema: given, document }: { readonly schema: Schema; readonly document: OpenApi }) {
  const { schema } = resolve(document, given);
  const required = schema.required ?? [];
  return (
    <ul className="fields">
      {Object.entries(schema.properties ?? {}).map(([name, property]) => (
        <FieldLine key={name} name={name} schema={property} isRequired={required.includes(name)} document={document} />
      ))}
    </ul>
  );
}

/** Whether a schema has fields. */
export function hasFields(schema: Schema, document: OpenApi): boolean {
  return Object.keys(resolve(document, schema).schema.properties ?? {}).length > 0;
}

/** Returns the message or enum in a field, in a list or in the values of a map. */
function innerOf(document: OpenApi, schema: Schema) {
  const value =
    schema.items ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : schema);
  const { name, schema: inner } = resolve(document, value);
  return { name, schema: inner, properties: name !== "" && inner.properties, values: name !== "" && inner.enum };
}

export function typeText(document: OpenApi, schema: Schema): string {
  if (schema.items) return `${typeText(document, schema.items)}[]`;
  if (typeof schema.additionalProperties === "object")
    return `map<string, ${typeText(document, schema.additionalProperties)}>`;
  const { name } = resolve(document, schema);
  return [name === "" ? (schema.type ?? "any") : name, schema.format].filter(Boolean).join(", ");
}

/** The constraints of a value. `outer` is the list that has the value. */
function Rules({ schema, outer }: { readonly schema: Schema; readonly outer: Schema }) {
  const { t } = useTexts();
  const { minLength, maxLength, minimum, maximum, pattern } = schema;
  const { minItems, maxItems } = outer;
  const lines = [
    minLength !== undefined && t("reference.minLength", { count: minLength }),
    maxLength !== undefined && t("reference.maxLength", { count: maxLength }),
    minimum !== undefined && minimum > -(2 ** 31) && t("reference.minimum", { count: minimum }),
    maximum !== undefined && maximum < 2 ** 31 - 1 && t("reference.maximum", { count: maximum }),
    minItems !== undefined && t("reference.minItems", { count: minItems }),
    maxItems !== undefined && t("reference.maxItems", { count: maxItems }),
  ].filter((line) => line !== false);
  const values = schema.enum ?? [];
  return (
    <>
      {lines.length > 0 && <p className="muted small">{lines.join(" · ")}</p>}
      {pattern !== undefined && (
        <p className="muted small">
          {t("reference.pattern")} <code>{pattern}</code>
        </p>
      )}
      {values.length > 0 && (
        <details>
          <summary>{t("reference.values", { count: values.length })}</summary>
          <ul className="values">
            {values.map((value) => (
              <li key={String(value)}>
                <code>{String(value)}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
