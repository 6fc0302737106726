// The codecs: a message in protobuf or in JSON, by itself or in an envelope.
import {
  type DescMethod,
  fromBinary,
  fromJson,
  type JsonReadOptions,
  type JsonWriteOptions,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { ApiError, Code } from "../../aip/errors.ts";
import { maxValues } from "../http/message-size.ts";
import { parseJsonText } from "../json/parse-json.ts";
import { newTextWriters } from "../json/serializer.ts";
import { fillPrefix, prefixLength, wrap } from "./envelope.ts";
import { writeBinary } from "./protobuf-encoder.ts";
import { holdsMoreValues } from "./value-count.ts";

/** The messages of a method. */
export interface MethodMessages {
  readonly descriptor: Pick<DescMethod, "input" | "output">;
}

/** The encoding of messages as bytes. */
export interface Codec {
  readonly name: "proto" | "json";
  /** Decodes a request. Throws INVALID_ARGUMENT if it is malformed, too deep, or has too many values. */
  decode(method: MethodMessages, bytes: Buffer): Message;
  encode(method: MethodMessages, message: Message): string | Uint8Array;
  /** Encodes a response in an envelope. `after` follows it, in an envelope of its own. */
  envelop(method: MethodMessages, message: Message, after?: Uint8Array): Buffer;
}

/** `registry` has the messages that an Any may contain; `maxDepth` limits the nesting of arrays and objects. */
export interface JsonOptions extends Required<Pick<JsonWriteOptions, "registry">> {
  readonly maxDepth: number;
}

/** Messages in protobuf. */
export const proto: Codec = {
  name: "proto",
  decode: ({ descriptor: { input } }, bytes) => {
    try {
      if (!holdsMoreValues(input, bytes, maxValues)) return fromBinary(input, bytes);
    } catch (error) {
      throw new ApiError(Code.INVALID_ARGUMENT, `cannot parse ${input.typeName}`, { cause: error });
    }
    throw new ApiError(Code.INVALID_ARGUMENT, `${input.typeName} must not hold more than ${maxValues} values`);
  },
  encode: ({ descriptor }, message) => writeBinary(descriptor.output, message),
  envelop({ descriptor }, message, after) {
    const framed = writeBinary(descriptor.output, message, prefixLength, after);
    return fillPrefix(framed, 0, framed.length - (after?.length ?? 0));
  },
};

/** Makes the codec of messages in JSON. */
export function json({ maxDepth, registry }: JsonOptions): Codec {
  const writer = newTextWriters((schema, message) => toJson(schema, message, { registry }));
  // Newer clients may send unknown fields.
  const options = { registry, ignoreUnknownFields: true };
  const encode = ({ descriptor }: MethodMessages, message: Message) => writer(descriptor.output)(message);
  return {
    name: "json",
    decode: (method, bytes) => readJson(method, bytes, maxDepth, options),
    encode,
    envelop(method, message, after) {
      const framed = wrap(0, Buffer.from(encode(method, message)));
      return after ? Buffer.concat([framed, after]) : framed;
    },
  };
}

function readJson(
  { descriptor }: MethodMessages,
  bytes: Buffer,
  maxDepth: number,
  options: Partial<JsonReadOptions>,
): Message {
  const value = parseJsonText(bytes, maxDepth);
  try {
    return fromJson(descriptor.input, value, options);
  } catch (error) {
    throw new ApiError(Code.INVALID_ARGUMENT, error instanceof Error ? error.message : String(error), { cause: error });
  }
}
