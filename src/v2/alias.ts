// Version 2: the same contract as v2beta1 under another package and another path prefix. Its descriptors are made from those
// of v2beta1 when they are first asked for, and its methods are those of v2beta1; no proto is copied and no handler
// registered twice.
import {
  clone,
  create,
  createFileRegistry,
  type DescFile,
  type DescMethodUnary,
  getExtension,
  hasExtension,
  isFieldSet,
  setExtension,
} from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  type MethodOptions,
} from "@bufbuild/protobuf/wkt";
import { http } from "../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/google/api/http_pb.ts";
import { once } from "../base/lazy.ts";
import { mapMaybe } from "../base/maybe-promise.ts";
import type { LazyMethods } from "../pipeline/lazy-methods.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";

const betaPackage = /^(\.?chainguard\.platform\.([a-z]+))\.v2beta1\b/;

/** Returns the v2 aliases of the v2beta1 methods in the table, by package. */
export function aliasMethods(table: MethodTable): LazyMethods[] {
  const packages = new Map<string, Method[]>();
  for (const method of table.values()) {
    const name = method.descriptor.parent.file.proto.package;
    if (betaPackage.test(name)) packages.set(name, [...(packages.get(name) ?? []), method]);
  }
  const alias = fileAliaser();
  return [...packages].map(([name, methods]) => ({
    version: "v2",
    packages: [`${toV2(name)}.`],
    routes: [name.replace(betaPackage, "/$2/v2")],
    methods: once(() => new Map(methods.map((method) => [toV2Name(method.path), aliasMethod(method, alias)]))),
  }));
}

/** Converts a file descriptor of v2beta1 to v2. Returns any other file unchanged. */
type FileAliaser = (file: DescFile) => DescFile;

function fileAliaser(): FileAliaser {
  const made = new Map<DescFile, DescFile>();
  const alias = (file: DescFile): DescFile => {
    if (!betaPackage.test(file.proto.package)) return file;
    const known = made.get(file);
    if (known) return known;
    const dependencies = new Map(file.dependencies.map(alias).map((dependency) => [dependency.proto.name, dependency]));
    const proto = rewriteFile(file.proto);
    const registry = createFileRegistry(proto, (name) => dependencies.get(name));
    const aliased = registry.getFile(proto.name)!;
    made.set(file, aliased);
    return aliased;
  };
  return alias;
}

function aliasMethod(beta: Method, alias: FileAliaser): Method {
  const { parent, input } = beta.descriptor;
  const service = alias(parent.file).services.find(({ name }) => name === parent.name);
  const descriptor = service?.method[beta.descriptor.localName] as DescMethodUnary | undefined;
  if (!descriptor) throw new Error(`${beta.path} has no counterpart in v2`);
  return {
    path: toV2Name(beta.path),
    descriptor,
    errorDomain: beta.errorDomain,
    rules: {
      text: (field) => beta.rules.text(field, nameInBeta(field.parent.typeName)),
      bounds: (field) => beta.rules.bounds(field, nameInBeta(field.parent.typeName)),
    },
    // protobuf-es encodes a message only as its own type.
    call(call, decode) {
      const response = beta.call(call, () => mapMaybe(decode(), (request) => create(input, request)));
      return mapMaybe(response, (message) => create(descriptor.output, message));
    },
  };
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
  for (const field of message.field) {
    // descriptor.proto: a scalar has no type_name. Protobuf runtimes reject an empty one that is set.
    if (isFieldSet(field, FieldDescriptorProtoSchema.field.typeName)) field.typeName = toV2(field.typeName);
  }
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

/** Converts a full name of v2 to v2beta1. Returns any other name unchanged. */
export function nameInBeta(name: string): string {
  return name.replace(/^(chainguard\.platform\.[a-z]+)\.v2\b/, "$1.v2beta1");
}

function toV2(name: string): string {
  return name.replace(betaPackage, "$1.v2");
}

/** Converts the path of a gRPC method. */
function toV2Name(path: string): string {
  return `/${toV2(path.slice(1))}`;
}

function toV2Path(path: string): string {
  return path.replace("/v2beta1/", "/v2/");
}
