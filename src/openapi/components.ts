// The schemas of a document: one for each use of each message and enum that is referenced.
import type { DescEnum, DescField, DescFile, DescMessage, JsonObject } from "@bufbuild/protobuf";
import type { FieldRules } from "../pipeline/text-rules.ts";
import { enumSchema, type JsonUse, messageSchema, type SchemaContext } from "./json-schema.ts";

/** Collects schemas while they are referenced. */
export interface Components extends SchemaContext {
  /** Adds a schema and returns a reference to it. Throws an Error if the name is taken. */
  add(name: string, schema: JsonObject): JsonObject;
  /** Returns all schemas so far, by name. */
  schemas(): JsonObject;
}

interface Component {
  /** The declaration and the use of the schema. */
  readonly origin: string;
  schema: JsonObject;
}

const suffixes: Readonly<Record<JsonUse, string>> = { reply: "", detail: "", request: "Input", update: "Update" };

/** Makes an empty collection. A reference also adds all schemas that it refers to. Throws an Error if two have the same name. */
export function newComponents(
  describe: (desc: DescMessage | DescEnum | DescField) => string,
  rules: FieldRules,
): Components {
  const components = new Map<string, Component>();
  const context: SchemaContext = {
    describe,
    rules,
    refer(source, use) {
      const name = componentName(source, use);
      const known = components.get(name);
      const origin = originOf(source, use);
      if (known && known.origin !== origin) throw taken(name, known, origin);
      if (!known) {
        // Set before it is made: a message may contain itself.
        const component: Component = { origin, schema: {} };
        components.set(name, component);
        const schema = source.kind === "enum" ? enumSchema(source) : messageSchema(source, use, context);
        const description = describe(source);
        component.schema = description === "" ? schema : { description, ...schema };
      }
      return reference(name);
    },
  };
  return {
    ...context,
    add(name, schema) {
      const known = components.get(name);
      if (known) throw taken(name, known, "what is added");
      components.set(name, { origin: "what is added", schema });
      return reference(name);
    },
    schemas() {
      const names = [...components.keys()].sort();
      return Object.fromEntries(names.map((name) => [name, components.get(name)!.schema]));
    },
  };
}

/** An enum has one schema for all uses. */
function originOf(source: DescMessage | DescEnum, use: JsonUse): string {
  return source.kind === "enum" ? source.typeName : `${source.typeName} ${use}`;
}

/** Returns the name inside the package: `Group`, `GroupInput`, `Identity.ClaimMatch`. */
function componentName(source: DescMessage | DescEnum, use: JsonUse): string {
  const { package: name } = source.file.proto;
  const own = source.typeName.slice(name.length + 1);
  if (source.kind === "enum") return own;
  return own + (isTakenByMap(source) ? "Value" : "") + suffixes[use];
}

/** Whether generators would name the type of some map, which they derive from message and field, like this message. */
function isTakenByMap({ file, typeName }: DescMessage): boolean {
  return [...allMessages(file)].some((message) =>
    message.fields.some(
      ({ fieldKind, localName }) => fieldKind === "map" && flat(message.typeName + localName) === flat(typeName),
    ),
  );
}

function* allMessages({ messages }: Pick<DescFile, "messages">): Iterable<DescMessage> {
  for (const message of messages) {
    yield message;
    yield* allMessages({ messages: message.nestedMessages });
  }
}

/** Returns a name without the characters that generators remove. */
function flat(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, "").toLowerCase();
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function taken(name: string, { origin }: Component, other: string): Error {
  return new Error(`the schemas of ${origin} and of ${other} would both be called ${name}`);
}
