// The schemas of a document: every message and enum that is referred to, once for each use.
import type { DescEnum, DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { enumSchema, type JsonUse, messageSchema, type SchemaContext } from "../doors/rest/json-schema.ts";

/** Schemas as they are asked for. */
export interface Components extends SchemaContext {
  /** Adds a schema and refers to it. Throws an Error when the name is taken. */
  add(name: string, schema: JsonObject): JsonObject;
  /** All so far, by name. */
  schemas(): JsonObject;
}

interface Component {
  /** What it is made of and for. */
  readonly origin: string;
  schema: JsonObject;
}

const suffixes: Readonly<Record<JsonUse, string>> = { reply: "", detail: "", request: "Input", update: "Update" };

/** No schemas yet. Those that are referred to appear with all that they refer to; an Error names two that share a name. */
export function newComponents(describe: (desc: DescMessage | DescEnum | DescField) => string): Components {
  const components = new Map<string, Component>();
  const context: SchemaContext = {
    describe,
    refer(source, use) {
      const name = componentName(source, use);
      const known = components.get(name);
      const origin = originOf(source, use);
      if (known && known.origin !== origin) throw taken(name, known, origin);
      if (!known) {
        // Known before it is made, since a message may hold itself.
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

/** An enum is the same in every use. */
function originOf(source: DescMessage | DescEnum, use: JsonUse): string {
  return source.kind === "enum" ? source.typeName : `${source.typeName} ${use}`;
}

/** The name inside the package: `Group`, `GroupInput`, `Identity.ClaimMatch`. */
function componentName(source: DescMessage | DescEnum, use: JsonUse): string {
  const { package: name } = source.file.proto;
  return source.typeName.slice(name.length + 1) + (source.kind === "enum" ? "" : suffixes[use]);
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function taken(name: string, { origin }: Component, other: string): Error {
  return new Error(`the schemas of ${origin} and of ${other} would both be called ${name}`);
}
