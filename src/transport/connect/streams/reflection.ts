// gRPC server reflection, v1 and v1alpha: the two are wire-compatible and share one handler.
import {
  create,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  ListServiceResponseSchema,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "../../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { clip } from "../../../base/clip.ts";

/** Handles one stream of reflection requests. */
export type Reflection = (requests: AsyncIterable<ServerReflectionRequest>) => AsyncIterable<ServerReflectionResponse>;

type Reply = ServerReflectionResponse["messageResponse"];

/** Reflects the services with all imported files, and the types of error details, which no file imports. */
export function reflection(services: readonly DescService[], detailFiles: readonly DescFile[]): Reflection {
  const index = indexFiles([...services.map(({ file }) => file), ...detailFiles]);
  const names = services.map((service) => service.typeName).sort();

  return async function* (requests) {
    // A file is sent only once per stream.
    const sent = new Set<string>();
    for await (const request of requests) {
      yield create(ServerReflectionResponseSchema, {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answer(request, index, names, sent),
      });
    }
  };
}

/** `sent` has the names of the files that the stream has got. */
function answer(
  { messageRequest }: ServerReflectionRequest,
  index: FileIndex,
  services: readonly string[],
  sent: Set<string>,
): Reply {
  switch (messageRequest.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: create(ListServiceResponseSchema, { service: services.map((name) => ({ name })) }),
      };
    case "fileByFilename":
      return files(index.files.get(messageRequest.value), sent, messageRequest.value);
    case "fileContainingSymbol":
      return files(index.symbols.get(messageRequest.value.replace(/^\./, "")), sent, messageRequest.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = messageRequest.value;
      return files(
        index.extensions.get(`${containingType} ${extensionNumber}`)?.file,
        sent,
        `${containingType} ${extensionNumber}`,
      );
    }
    case "allExtensionNumbersOfType": {
      const baseTypeName = messageRequest.value;
      const extensionNumber = [...index.extensions.values()]
        .filter((e) => e.extendee.typeName === baseTypeName)
        .map((e) => e.number);
      return {
        case: "allExtensionNumbersResponse",
        value: { $typeName: "grpc.reflection.v1.ExtensionNumberResponse", baseTypeName, extensionNumber },
      };
    }
    default:
      return failure(Code.InvalidArgument, "the request asks for nothing");
  }
}

function files(file: DescFile | undefined, sent: Set<string>, asked: string): Reply {
  if (!file) return failure(Code.NotFound, `not found: ${clip(asked)}`);
  const needed = closure(file).filter((candidate) => candidate === file || !sent.has(candidate.proto.name));
  for (const { proto } of needed) sent.add(proto.name);
  const fileDescriptorProto = needed.map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return {
    case: "fileDescriptorResponse",
    value: { $typeName: "grpc.reflection.v1.FileDescriptorResponse", fileDescriptorProto },
  };
}

function failure(errorCode: Code, errorMessage: string): Reply {
  return { case: "errorResponse", value: { $typeName: "grpc.reflection.v1.ErrorResponse", errorCode, errorMessage } };
}

/** Returns a file and all its imports, the file itself first. */
function closure(file: DescFile, seen: Set<DescFile> = new Set()): DescFile[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return [file, ...file.dependencies.flatMap((dependency) => closure(dependency, seen))];
}

interface FileIndex {
  readonly files: Map<string, DescFile>;
  readonly symbols: Map<string, DescFile>;
  readonly extensions: Map<string, DescExtension>;
}

function indexFiles(roots: readonly DescFile[]): FileIndex {
  const index: FileIndex = { files: new Map(), symbols: new Map(), extensions: new Map() };
  for (const file of roots.flatMap((root) => closure(root))) {
    if (index.files.has(file.proto.name)) continue;
    index.files.set(file.proto.name, file);
    for (const symbol of symbolsOf(file)) index.symbols.set(symbol, file);
    for (const extension of file.extensions) {
      index.extensions.set(`${extension.extendee.typeName} ${extension.number}`, extension);
      index.symbols.set(extension.typeName, file);
    }
  }
  return index;
}

function symbolsOf(file: DescFile): string[] {
  return [
    ...file.messages.flatMap(messageSymbols),
    ...file.enums.flatMap((e) => [
      e.typeName,
      ...e.values.map((value) => `${e.typeName.slice(0, e.typeName.lastIndexOf("."))}.${value.name}`),
    ]),
    ...file.services.flatMap((service) => [
      service.typeName,
      ...service.methods.map((method) => `${service.typeName}.${method.name}`),
    ]),
  ];
}

function messageSymbols(message: DescMessage): string[] {
  return [
    message.typeName,
    ...message.fields.map((field) => `${message.typeName}.${field.name}`),
    ...message.nestedEnums.map((e) => e.typeName),
    ...message.nestedMessages.flatMap(messageSymbols),
  ];
}
