// An OpenAPI 3.1 document of methods, made of their descriptors by the rules of the REST transport.
import type { DescEnum, DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import type { ServedMethod } from "../pipeline/method.ts";
import { bindingsOf } from "../transport/rest/http-rule.ts";
import type { Commented } from "./comment-name.ts";
import { type Components, newComponents } from "./components.ts";
import { errorComponents } from "./error-responses.ts";
import { messageSchema } from "./json-schema.ts";
import { bearerScheme, type OperationContext, operation } from "./operation.ts";
import { placesOf } from "./paths.ts";

/** The inputs of an OpenAPI document. */
export interface DocumentOptions {
  readonly title: string;
  /** The version of the program. */
  readonly version: string;
  /** The URL of the API. */
  readonly serverUrl: string;
  readonly methods: readonly ServedMethod[];
  /** The message types of error details. */
  readonly detailTypes: Registry;
  /** Returns the comment of a declaration; may be empty. */
  readonly describe: Describe;
}

/** Returns the comment of a declaration. */
export type Describe = (desc: Commented) => string;

const introduction = [
  "Texts in a path are percent-encoded, the slashes of a uid included (`%2F`).",
  "Lists come in pages: `nextPageToken` of a reply is the `pageToken` of the next request.",
  "An update changes what `updateMask` names or, without it, what the body mentions.",
  "Path, query and headers together take 32 KiB at most; what is longer is refused with 431 in plain text.",
].join(" ");

/** Makes the document. Throws an Error if two types or operations have the same name, or OpenAPI cannot express a route. */
export function openApiDocument({ title, version, serverUrl, methods, detailTypes, describe }: DocumentOptions) {
  // The methods of a document share their rules.
  const { rules } = methods[0]!;
  const components = newComponents((desc) => (desc.kind === "enum" ? enumText(desc, describe) : describe(desc)), rules);
  const error = addErrorSchema(detailTypes, components);
  const paths = pathsOf(methods, { components, describe });
  const document: JsonObject = {
    openapi: "3.1.0",
    info: { title, version, description: introduction },
    servers: [{ url: serverUrl }],
    security: [{ [bearerScheme]: [] }],
    tags: tagsOf(methods, describe),
    paths,
    components: {
      schemas: components.schemas(),
      responses: errorComponents(error),
      securitySchemes: { [bearerScheme]: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    },
  };
  return document;
}

function pathsOf(methods: readonly ServedMethod[], context: OperationContext): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const ids = new Set<string>();
  for (const place of placesOf(methods.flatMap(bindingsOf))) {
    const { method, httpMethod } = place.binding;
    const id = freeId(`${method.descriptor.parent.name}_${method.descriptor.name}`, ids);
    paths[place.path] ??= {};
    paths[place.path]![httpMethod.toLowerCase()] = operation(place, id, context);
  }
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Further routes of a method are numbered: `Exchange`, `Exchange2`. */
function freeId(name: string, ids: Set<string>): string {
  let id = name;
  for (let count = 2; ids.has(id); count++) id = `${name}${count}`;
  ids.add(id);
  return id;
}

function tagsOf(methods: readonly ServedMethod[], describe: Describe): JsonValue[] {
  const services = [...new Set(methods.map(({ descriptor }) => descriptor.parent))];
  return services.map((service) => ({ name: service.typeName, description: describe(service) }));
}

function enumText(schema: DescEnum, describe: Describe): string {
  const values = schema.values.map((value) => `- \`${value.name}\`: ${describe(value)}`);
  return `${describe(schema)}\n\n${values.join("\n")}`.trim();
}

const typeMember = "@type";

/** Adds the schema of errors with details of these types, and returns a reference to it. */
function addErrorSchema(detailTypes: Registry, components: Components): JsonObject {
  const details = [...detailTypes].filter((type): type is DescMessage => type.kind === "message");
  return components.add("Status", {
    description: "An error (google.rpc.Status).",
    type: "object",
    properties: {
      code: { type: "integer", format: "int32", description: "The code of gRPC (google.rpc.Code)." },
      message: { type: "string", description: "What was wrong, in a sentence for developers." },
      details: {
        type: "array",
        items: detailSchema(details, components),
        description: "More about it; always with an ErrorInfo, whose reason a program can rely on (AIP-193).",
      },
    },
    required: ["code", "message", "details"],
  });
}

/** Returns the schema of a detail in an Any. Generators distinguish types by a discriminator, which requires named schemas. */
function detailSchema(types: readonly DescMessage[], components: Components): JsonObject {
  const named = types.map(
    (type) => [typeUrl(type), components.add(`${type.name}Detail`, anySchema(type, components))] as const,
  );
  return {
    oneOf: named.map(([, reference]) => reference),
    discriminator: {
      propertyName: typeMember,
      mapping: Object.fromEntries(named.map(([url, { $ref }]) => [url, $ref!])),
    },
  };
}

function anySchema(type: DescMessage, components: Components): JsonObject {
  const { properties, ...schema } = messageSchema(type, "detail", components);
  const typed = { [typeMember]: { type: "string", enum: [typeUrl(type)] }, ...(properties as JsonObject) };
  return { ...schema, properties: typed, required: [typeMember] };
}

function typeUrl({ typeName }: DescMessage): string {
  return `type.googleapis.com/${typeName}`;
}
