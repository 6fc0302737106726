// The schema of errors, as transport/rest/rest-response.ts writes them.
import type { DescMessage, JsonObject, Registry } from "@bufbuild/protobuf";
import type { Components } from "./components.ts";
import { messageSchema } from "./json-schema.ts";

const typeMember = "@type";

/** Adds the schema of errors with details of these types, and returns a reference to it. */
export function addErrorSchema(detailTypes: Registry, components: Components): JsonObject {
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

/** The schema of a detail in an Any. Generators distinguish types by a discriminator, which requires named schemas. */
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
