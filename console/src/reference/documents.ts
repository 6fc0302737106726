// The documents that the reference shows: one for all gRPC services, and the OpenAPI document of the service in view.
import { useEffect, useState } from "react";

/** /openapi/grpc.json */
export interface Grpc {
  readonly services: Readonly<Record<string, Service>>;
  readonly types: Readonly<Record<string, Type>>;
}

export interface Service {
  /** The OpenAPI document that has it. */
  readonly document: string;
  /** The proto file that declares it. */
  readonly file: string;
  readonly description: string;
  readonly methods: readonly Method[];
}

export interface Method {
  readonly name: string;
  readonly description: string;
  readonly input: string;
  readonly output: string;
  readonly access: {
    readonly type: "credential" | "open" | "token";
    readonly capabilities?: readonly string[];
    readonly scope?: string;
  };
  readonly routes: readonly Route[];
}

export interface Route {
  readonly method: string;
  readonly path: string;
  /** The fields that the path fills, in its order. */
  readonly variables: readonly string[];
  /** The field that the body fills; `*` for the whole request. */
  readonly body: string;
}

export interface Type {
  readonly file: string;
  readonly description: string;
  readonly fields?: readonly Field[];
  readonly values?: readonly { readonly name: string; readonly number: number; readonly description: string }[];
}

export interface Field {
  readonly name: string;
  readonly number: number;
  readonly type: string;
  readonly message?: string;
  readonly enum?: string;
  readonly isRepeated?: boolean;
  readonly isRequired?: boolean;
  readonly isOutputOnly?: boolean;
  readonly isInputOnly?: boolean;
  readonly oneof?: string;
  /** Whether the proto file calls it optional: a value that is not set differs from zero. */
  readonly isOptional?: boolean;
  readonly description: string;
}

/** The parts of an OpenAPI document that the reference reads. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly propertyNames?: Schema;
  readonly contentEncoding?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly example?: unknown;
  readonly readOnly?: boolean;
  readonly deprecated?: boolean;
}

const loading = new Map<string, Promise<unknown>>();

/** Reads a document once. */
function load<T>(name: string): Promise<T> {
  let document = loading.get(name);
  if (!document) {
    document = fetch(`/openapi/${name}.json`).then((response) => {
      if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
      return response.json();
    });
    loading.set(name, document);
    document.catch(() => loading.delete(name));
  }
  return document as Promise<T>;
}

/** Returns a document; undefined while it is read. */
export function useDocument<T>(name: string): { readonly data?: T; readonly error?: Error } {
  const [state, setState] = useState<{ name: string; data?: T; error?: Error }>({ name });
  useEffect(() => {
    let isCurrent = true;
    load<T>(name).then(
      (data) => isCurrent && setState({ name, data }),
      (error) => isCurrent && setState({ name, error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  return state.name === name ? state : {};
}

/**
 * Returns the operation of a method's first route. Its path parameters are called like the fields that they fill: in the document,
 * methods with the same path share names.
 */
export function operationOf(document: OpenApi, service: string, { name, routes }: Method): Operation | undefined {
  const id = new RegExp(`^${service.split(".").at(-1)}_${name}\\d*$`);
  const [operation] = Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .filter(({ tags, operationId }) => tags.includes(service) && id.test(operationId))
    .sort((a, b) => a.operationId.length - b.operationId.length);
  const variables = routes[0]?.variables ?? [];
  let index = 0;
  const parameters = operation?.parameters?.map((one) =>
    one.in === "path" ? { ...one, name: camel(variables[index++] ?? one.name) } : one,
  );
  return operation && { ...operation, ...(parameters && { parameters }) };
}

/** Returns the name of a field in JSON. */
export function camel(name: string): string {
  return name.replace(/_+(.?)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Returns the schema that a reference names, and its name. */
export function resolve(document: OpenApi, schema: Schema): { readonly name: string; readonly schema: Schema } {
  const name = schema.$ref?.split("/").at(-1) ?? "";
  return { name, schema: name === "" ? schema : (document.components.schemas[name] ?? {}) };
}
