// YAML documents of resources: `kind`, and the fields of the resource as the API has them.
import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { type ResourceSpec, ResourceSpecSchema } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { isJsonObject } from "../../base/json.ts";
import { didYouMean } from "../../base/similar.ts";
import { errorMessage } from "../../base/system-error.ts";
import { printable, yamlText } from "../escape.ts";
import { wrongUsage } from "../failure.ts";
import { readYamlDocuments } from "../yaml.ts";

/** The kind of a document, such as `RoleBinding`. */
export type DocumentKind = string;

/** A resource, and where it was read. */
export interface Located {
  readonly resource: ResourceSpec;
  /** File and line, such as `roles.yaml:12`. */
  readonly place: string;
}

/** The kinds of documents, in the order in which files are written. */
export const documentKinds: readonly DocumentKind[] = ResourceSpecSchema.fields.map(({ jsonName }) => kindOf(jsonName));

/** A client secret in a file: the name of a variable of the environment. */
const secretPattern = /^\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** The environment for reading documents. */
export interface Reading {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called with a variable that a file names and that is not set. */
  readonly onMissingVariable: (variable: string, place: string) => void;
}

/** Reads the documents of a file. Fails with the place of the first mistake. */
export function readDocuments(text: string, name: string, reading: Reading): Located[] {
  return readYamlDocuments(text, name).map(({ value, line }) => {
    const place = `${name}:${line}`;
    return { place, resource: resourceOf(value, place, reading) };
  });
}

function resourceOf(content: unknown, place: string, reading: Reading): ResourceSpec {
  if (!isJsonObject(content)) throw wrongUsage(`${place}: a document must be a mapping with \`kind\``);
  const { kind, ...fields } = content as JsonObject;
  if (typeof kind !== "string" || !documentKinds.includes(kind))
    throw wrongUsage(`${place}: kind: ${shown(kind)} is not one of ${documentKinds.join(", ")}${suggested(kind)}`);
  if (kind === "IdentityProvider") readSecret(fields, place, reading);
  try {
    return fromJson(ResourceSpecSchema, { [fieldOf(kind)]: fields });
  } catch (error) {
    throw wrongUsage(`${place}: ${printable(problemIn(errorMessage(error)))}`);
  }
}

/** The place says more than the names of the messages. */
function problemIn(message: string): string {
  return firstLine(message)
    .replace(/^cannot decode message \S+ from JSON: /, "")
    .replace(/^cannot decode field [\w.]+\.(\w+) from JSON: /, "$1: ");
}

/** Replaces the client secret by the value of its variable. */
function readSecret(fields: JsonObject, place: string, { environment, onMissingVariable }: Reading): void {
  const { oidc } = fields;
  if (!isJsonObject(oidc) || oidc.clientSecret === undefined) return;
  const [, variable] = secretPattern.exec(String(oidc.clientSecret)) ?? [];
  if (variable === undefined)
    throw wrongUsage(
      `${place}: oidc.clientSecret: must be \${env:NAME}`,
      "A file must not contain the secret itself: put it into a variable of the environment.",
    );
  const { clientSecret: _, ...others } = oidc;
  const value = environment[variable] ?? "";
  if (value === "") onMissingVariable(variable, place);
  fields.oidc = value === "" ? others : { ...others, clientSecret: value };
}

/** Returns the document of a resource. Comments say who the people are whose uids it has. */
export async function documentText(
  resource: ResourceSpec,
  namesOfPeople: ReadonlyMap<string, string>,
): Promise<{ kind: DocumentKind; text: string }> {
  const [[field, fields] = ["", {}]] = Object.entries(toJson(ResourceSpecSchema, resource) as JsonObject);
  const kind = kindOf(field);
  return { kind, text: await yamlText({ kind, ...(fields as JsonObject) }, (text) => namesOfPeople.get(text)) };
}

function kindOf(field: string): DocumentKind {
  return `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}

function fieldOf(kind: DocumentKind): string {
  return `${kind.charAt(0).toLowerCase()}${kind.slice(1)}`;
}

function suggested(kind: unknown): string {
  const suggestion = typeof kind === "string" ? didYouMean(kind, documentKinds) : "";
  return suggestion && `; ${suggestion}`;
}

function shown(value: unknown): string {
  return value === undefined ? "a missing kind" : printable(JSON.stringify(value).slice(0, 100));
}

function firstLine(message: string): string {
  return message.split("\n")[0]!.replace(/:$/, "");
}
