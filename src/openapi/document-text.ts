// The text of a document as served.
import type { Registry } from "@bufbuild/protobuf";
import { comments } from "../../gen/comments.ts";
import { version } from "../base/version.ts";
import type { ServedMethod } from "../pipeline/method.ts";
import { nameInBeta } from "../v2/alias.ts";
import { type Commented, commentName } from "./comment-name.ts";
import { openApiDocument } from "./document.ts";
import { grpcDocument, type NamedMethods } from "./grpc-document.ts";

/** Makes the JSON of the document of these methods, with `name` in its title. */
export function documentText(
  name: string,
  serverUrl: string,
  methods: readonly ServedMethod[],
  detailTypes: Registry,
): string {
  const title = `Gatehouse ${name}`;
  return JSON.stringify(openApiDocument({ title, version, serverUrl, methods, detailTypes, describe }));
}

/** Makes the JSON that describes the services of these documents for gRPC. */
export function grpcText(documents: readonly NamedMethods[]): string {
  return JSON.stringify(grpcDocument(documents, describe));
}

/** Returns the comment of a declaration; those of v2 are the ones of v2beta1. */
function describe(desc: Commented): string {
  const name = commentName(desc);
  return comments[name] ?? comments[nameInBeta(name)] ?? "";
}
