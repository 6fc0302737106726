// Methods for the transport to serve: descriptors with plain functions behind them, and no pipeline.
import { readdirSync } from "node:fs";
import { create, type DescFile, type DescMethodUnary, type DescService, type Message } from "@bufbuild/protobuf";
import { unauthenticated } from "../../../src/aip/errors.ts";
import type { Call } from "../../../src/pipeline/call.ts";
import type { Method } from "../../../src/pipeline/method.ts";
import { fieldRules } from "../../../src/pipeline/text-rules.ts";

/** The handler of a method; without it, the response is an empty message. */
export type Handler = (call: Call, request: Message) => Message | Promise<Message>;

/** Makes a method. */
export function methodOf(descriptor: DescMethodUnary, handler?: Handler, needsBearer = false): Method {
  return {
    path: `/${descriptor.parent.typeName}/${descriptor.name}`,
    descriptor,
    errorDomain: "iam.example.org",
    rules: fieldRules(new Map()),
    async call(call, decode) {
      if (needsBearer && call.header("authorization") === undefined)
        throw unauthenticated("a bearer token is required");
      const request = await decode();
      return handler ? handler(call, request) : create(descriptor.output);
    },
  };
}

/** Returns every unary method of every service in gen/. */
export async function generatedMethods(): Promise<Method[]> {
  return (await generatedServices())
    .flatMap((service) => service.methods.filter((m) => m.methodKind === "unary"))
    .map((m) => methodOf(m as DescMethodUnary));
}

/** Returns every service in gen/. */
export async function generatedServices(): Promise<DescService[]> {
  const root = new URL("../../../gen/", import.meta.url);
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith("_pb.ts"));
  const modules = await Promise.all(
    paths.map((path) => import(new URL(path, root).href) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) => Object.values(module).filter(isFile)).flatMap((file) => file.services);
}

function isFile(value: unknown): value is DescFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}
