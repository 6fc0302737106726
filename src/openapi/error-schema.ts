// The JSON of errors, as doors/rest/reply.ts writes it.
import type { DescMessage, JsonObject, Registry } from "@bufbuild/protobuf";
import { messageSchema } from "../doors/rest/json-schema.ts";
import type { Components } from "./components.ts";

/** Adds the schema of errors, whose details are of these types; answers what refers to it. */
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
        items: { oneOf: details.map((type) => detailSchema(type, components)) },
        description: "More about it; always with an ErrorInfo, whose reason a program can rely on (AIP-193).",
      },
    },
    required: ["code", "message", "details"],
  });
}

/** A detail as an Any shows it. */
function detailSchema(type: DescMessage, components: Components): JsonObject {
  const { properties, ...schema } = messageSchema(type, "detail", components);
  const typed = { "@type": { const: `type.googleapis.com/${type.typeName}` }, ...(properties as JsonObject) };
  return { ...schema, properties: typed, required: ["@type"] };
}
