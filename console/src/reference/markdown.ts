// The page of a method as Markdown, to paste into a ticket, a wiki or a chat.
import type { Texts } from "../texts/texts.ts";
import { type Language, languages } from "./code/languages.ts";
import { type Grpc, type Method, type OpenApi, type Operation, resolve, type Schema } from "./documents.ts";
import { type Draft, firstDraft } from "./request.ts";
import { typeText } from "./schema.tsx";

/** A method as its page shows it. */
interface MethodOnPage {
  readonly origin: string;
  readonly grpc: Grpc;
  readonly document: OpenApi;
  readonly service: string;
  readonly method: Method;
  readonly operation: Operation | undefined;
}

/** Returns title, description, routes, fields, examples, and the call of the example as code. */
export function methodMarkdown(page: MethodOnPage, language: Language, t: Texts): string {
  const { service, method, operation } = page;
  const request = operation?.requestBody?.content["application/json"];
  const response = operation?.responses["200"]?.content?.["application/json"];
  const code = languages[language].code({ ...page, draft: exampleDraft(operation) });
  return [
    `# ${method.name}`,
    method.description,
    method.routes.map(({ method: verb, path }) => `- \`${verb} ${path}\``).join("\n"),
    `gRPC: \`/${service}/${method.name}\``,
    accessText(method, t),
    section(t("reference.request"), requestTables(page, t)),
    section(t("reference.response"), response ? tables(page.document, response.schema, t) : t("reference.empty")),
    request?.example !== undefined && section(t("reference.exampleRequest"), fence("json", json(request.example))),
    response?.example !== undefined && section(t("reference.example"), fence("json", json(response.example))),
    section(languages[language].name, fence(fences[language] ?? "sh", code)),
  ]
    .filter((part) => typeof part === "string" && part !== "")
    .join("\n\n")
    .concat("\n");
}

/** The names of languages in a fence, where they are no shell. */
const fences: Partial<Record<Language, string>> = { typescript: "ts", go: "go", python: "python" };

function accessText({ access: { type, capabilities = [], scope } }: Method, t: Texts): string {
  if (type !== "token") return t(type === "open" ? "reference.open" : "reference.credential");
  if (capabilities.length === 0) return t("reference.token");
  const names = capabilities.map((one) => `\`${one}\``).join(", ");
  const place = scope === undefined ? t("reference.anywhere") : `${t("reference.at")} \`${scope}\``;
  return `${t("reference.needs")} ${names} ${place}`;
}

function section(title: string, text: string): string {
  return text === "" ? "" : `## ${title}\n\n${text}`;
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Returns the draft with the values of the examples. */
function exampleDraft(operation: Operation | undefined): Draft {
  const given = (operation?.parameters ?? []).filter(({ example }) => example !== undefined);
  return {
    ...firstDraft(operation),
    parameters: Object.fromEntries(given.map((one) => [one.name, String(one.example)])),
  };
}

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly description: string;
}

function requestTables({ document, operation }: MethodOnPage, t: Texts): string {
  const { parameters = [], requestBody } = operation ?? {};
  const places = (["path", "query"] as const).map((place) => {
    const rows = parameters
      .filter((one) => one.in === place)
      .map(({ name, schema, required = false, description = "" }) => ({
        name,
        schema,
        isRequired: required,
        description,
      }));
    return rows.length === 0 ? "" : `### ${t(`reference.in.${place}`)}\n\n${table(document, rows, t)}`;
  });
  const body = requestBody?.content["application/json"]?.schema;
  const fields = body ? tables(document, body, t) : "";
  return [...places, fields === "" ? "" : `### ${t("reference.in.body")}\n\n${fields}`].filter(Boolean).join("\n\n");
}

/** Returns a table of the fields of a schema, and one of each message in it. */
function tables(document: OpenApi, schema: Schema, t: Texts): string {
  const seen = new Set<string>();
  const parts: string[] = [];
  const waiting: { readonly name: string; readonly schema: Schema }[] = [resolve(document, schema)];
  for (const one of waiting) {
    const { required = [], properties = {} } = one.schema;
    const rows = Object.entries(properties).map(([name, property]) => ({
      name,
      schema: property,
      isRequired: required.includes(name),
      description: property.description ?? "",
    }));
    if (rows.length === 0) continue;
    const title = parts.length === 0 ? "" : `#### ${one.name}\n\n`;
    parts.push(title + table(document, rows, t));
    for (const { schema: property } of rows) {
      const inner = resolve(document, innerOf(property));
      if (inner.name === "" || seen.has(inner.name) || !inner.schema.properties) continue;
      seen.add(inner.name);
      waiting.push(inner);
    }
  }
  return parts.join("\n\n");
}

function innerOf(schema: Schema): Schema {
  return schema.items ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : schema);
}

function table(document: OpenApi, rows: readonly Row[], t: Texts): string {
  const head = [t("reference.field"), t("reference.type"), "", t("reference.description")];
  const lines = rows.map(({ name, schema, isRequired, description }) => {
    const mark = [isRequired && t("reference.required"), schema.readOnly && t("reference.readOnly")].filter(Boolean);
    return [`\`${name}\``, typeText(document, schema), mark.join(", "), description];
  });
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...lines.map(line)].join("\n");
}

/** Returns a text for a cell of a table. */
function cell(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|");
}
