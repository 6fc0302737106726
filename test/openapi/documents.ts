// The OpenAPI documents as a client reads them.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { openApiPages } from "../../src/server/openapi-pages.ts";
import { composeUncalled } from "../server/compose-uncalled.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required?: boolean;
  readonly schema: JsonObject;
  readonly example?: JsonValue;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly JsonObject[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: JsonContent };
  readonly responses: { readonly "200": { readonly content?: JsonContent } };
}

interface JsonContent {
  readonly "application/json": { readonly schema: JsonObject; readonly example?: JsonValue };
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

/** An operation and where it stands. */
export interface Placed {
  readonly document: string;
  /** In upper case. */
  readonly httpMethod: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The documents by the path that they are served at. */
export const documents: ReadonlyMap<string, Document> = new Map(
  await Promise.all(
    Object.entries(openApiPages(composeUncalled(), "https://gatehouse.example.org"))
      .filter(([path]) => path !== "/openapi/" && path !== "/openapi/grpc.json")
      .map(async ([path, page]): Promise<[string, Document]> => {
        const { text } = await page({ headers: {} } as never);
        return [path, JSON.parse(String(text))];
      }),
  ),
);

/** The operations of all documents. */
export const allOperations: readonly Placed[] = [...documents].flatMap(([document, { paths }]) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      document,
      httpMethod: method.toUpperCase(),
      path,
      operation,
    })),
  ),
);

const isStream = ({ responses }: Operation) => "text/event-stream" in (responses["200"].content ?? {});

/** Those whose response ends: a test can call them and wait. */
export const operations: readonly Placed[] = allOperations.filter(({ operation }) => !isStream(operation));

/** Returns a document without the operations whose response is a stream. */
export function withoutStreams(document: Document): Document {
  const paths = Object.entries(document.paths).filter(([, item]) => !Object.values(item).some(isStream));
  return { ...document, paths: Object.fromEntries(paths) };
}
