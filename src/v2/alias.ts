// Version 2: the same contract as v2beta1 under another package and another path prefix. Its descriptors are made at start
// from those of v2beta1, and its methods are those of v2beta1; no proto is copied and no handler registered twice.
import {
  clone,
  create,
  createFileRegistry,
  type DescFile,
  type DescMethodUnary,
  type DescService,
  type FileRegistry,
  getExtension,
  hasExtension,
  setExtension,
} from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type MethodOptions,
} from "@bufbuild/protobuf/wkt";
import { http } from "../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/google/api/http_pb.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";

const betaPackage = /^(\.?chainguard\.platform\.[a-z]+)\.v2beta1\b/;

/** The methods of v2 for those of v2beta1 that the table holds. */
export function aliasMethods(table: MethodTable): MethodTable {
  const beta = [...table.values()].filter((method) => betaPackage.test(method.descriptor.parent.typeName));
  const registry = aliasRegistry(beta.map((method) => method.descriptor.parent));
  return new Map(beta.map((method) => aliasMethod(method, registry)).map((method) => [method.path, method]));
}

function aliasMethod(beta: Method, registry: FileRegistry): Method {
  const service = registry.getService(toV2(beta.descriptor.parent.typeName));
  const descriptor = service?.method[beta.descriptor.localName] as DescMethodUnary | undefined;
  if (!service || !descriptor) throw new Error(`${beta.path} has no counterpart in v2`);
  const { input } = beta.descriptor;
  return {
    path: `/${service.typeName}/${descriptor.name}`,
    descriptor,
    needsBearer: beta.needsBearer,
    // protobuf-es refuses to encode a message under another type than its own.
    invoke: async (call, request) => create(descriptor.output, await beta.invoke(call, create(input, request))),
  };
}

/** The files of v2beta1 rewritten, and whatever they import. */
function aliasRegistry(services: readonly DescService[]): FileRegistry {
  const files = new Map<string, FileDescriptorProto>();
  for (const { file } of services) gather(file, files);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...files.values()] }));
}

/** Adds a file after the files that it imports: the order that a descriptor set is to have. */
function gather(file: DescFile, files: Map<string, FileDescriptorProto>): void {
  const proto = betaPackage.test(file.proto.package) ? rewriteFile(file.proto) : file.proto;
  if (files.has(proto.name)) return;
  for (const dependency of file.dependencies) gather(dependency, files);
  files.set(proto.name, proto);
}

function rewriteFile(original: FileDescriptorProto): FileDescriptorProto {
  const proto = clone(FileDescriptorProtoSchema, original);
  proto.name = toV2Path(proto.name);
  proto.package = toV2(proto.package);
  proto.dependency = proto.dependency.map(toV2Path);
  proto.messageType.forEach(rewriteMessage);
  for (const method of proto.service.flatMap((service) => service.method)) {
    method.inputType = toV2(method.inputType);
    method.outputType = toV2(method.outputType);
    if (method.options) rewriteRoutes(method.options);
  }
  return proto;
}

function rewriteMessage(message: DescriptorProto): void {
  for (const field of message.field) field.typeName = toV2(field.typeName);
  message.nestedType.forEach(rewriteMessage);
}

function rewriteRoutes(options: MethodOptions): void {
  if (!hasExtension(options, http)) return;
  const rule = getExtension(options, http);
  for (const binding of [rule, ...rule.additionalBindings]) rewriteRoute(binding);
  setExtension(options, http, rule);
}

function rewriteRoute({ pattern }: HttpRule): void {
  if (typeof pattern.value === "string") pattern.value = toV2Path(pattern.value);
}

function toV2(name: string): string {
  return name.replace(betaPackage, "$1.v2");
}

function toV2Path(path: string): string {
  return path.replace("/v2beta1/", "/v2/");
}
