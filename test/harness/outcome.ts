// The outcome of a call, in one form for all transports.
import {
  createRegistry,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import * as errorDetails from "../../gen/google/rpc/error_details_pb.ts";
import { Code } from "../../src/aip/errors.ts";

/** The result of a call. JSON is in one normal form: that of protobuf-es, without default values. */
export interface Outcome {
  readonly code: Code;
  /** The reply; absent when the call failed. */
  readonly response?: JsonValue;
  /** The details of the error, each with its `@type`. */
  readonly details: readonly JsonValue[];
  /** The message of the error; empty when the call succeeded. */
  readonly message: string;
}

/** The types that the details of errors may have. */
export const detailRegistry = createRegistry(
  errorDetails.ErrorInfoSchema,
  errorDetails.BadRequestSchema,
  errorDetails.PreconditionFailureSchema,
  errorDetails.ResourceInfoSchema,
  errorDetails.RetryInfoSchema,
);

/** Returns the outcome of a call that was answered with this message. */
export function success(schema: DescMessage, message: Message): Outcome {
  return { code: Code.OK, response: toJson(schema, message), details: [], message: "" };
}

/** Returns the outcome of a call that failed; throws when a detail is of an unknown type. */
export function failure(code: number, message: string, details: readonly Message[]): Outcome {
  return { code: code as Code, details: details.map(detailJson), message };
}

/** Reads a detail from the JSON of an Any. */
export function detailFromJson({ "@type": typeUrl, ...fields }: JsonObject): Message {
  const typeName = String(typeUrl).replace(/^type\.googleapis\.com\//, "");
  return fromJson(detailSchema(typeName), fields);
}

function detailJson(detail: Message): JsonObject {
  const fields = toJson(detailSchema(detail.$typeName), detail) as JsonObject;
  return { "@type": `type.googleapis.com/${detail.$typeName}`, ...fields };
}

function detailSchema(typeName: string): DescMessage {
  const schema = detailRegistry.getMessage(typeName);
  if (!schema) throw new Error(`${typeName} is not a type of a detail`);
  return schema;
}
