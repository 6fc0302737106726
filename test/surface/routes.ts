// The routes of the API as a table: what a client can call, and what its caller must hold.
import type { DescMethod, DescMethodServerStreaming } from "@bufbuild/protobuf";
import { accessRuleOf } from "../../src/authz/rules.ts";
import { capabilityNames, capabilitySet } from "../../src/model/capabilities.ts";
import type { Method, ServedMethod } from "../../src/pipeline/method.ts";
import { fieldRules, ruleBook } from "../../src/pipeline/text-rules.ts";
import { bindingsOf } from "../../src/transport/rest/http-rule.ts";
import { generatedMethods, generatedServices } from "../transport/rest/methods.ts";

/** The file that the table is compared with; `node test/surface/write-routes.ts` writes it. */
export const goldenFile = new URL("routes.golden.txt", import.meta.url);

const heading = ["method", "route", "rpc", "body", "capability", "scope"];

/** Every method of our services, in the order of their paths. */
export async function apiMethods(): Promise<Method[]> {
  const methods = (await generatedMethods()).filter(({ path }) => /^\/(?:chainguard|gatehouse)\./.test(path));
  return methods.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** One line for each route, one column for each thing that clients rely on. */
export async function formatRoutes(): Promise<string> {
  const rows = [...(await apiMethods()).flatMap(rowsOf), ...(await apiStreams()).flatMap(rowsOf)];
  rows.sort(([, , a = ""], [, , b = ""]) => (a < b ? -1 : a > b ? 1 : 0));
  const widths = heading.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const format = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join(" | ")
      .trimEnd();
  return `${[heading, ...rows].map(format).join("\n")}\n`;
}

/** Every method of our services whose response is a stream. */
async function apiStreams(): Promise<ServedMethod[]> {
  const streams = (await generatedServices())
    .filter(({ typeName }) => /^(?:chainguard|gatehouse)\./.test(typeName))
    .flatMap(({ methods }) => methods.filter((method) => method.methodKind === "server_streaming"));
  return streams.map((descriptor) => ({
    path: `/${descriptor.parent.typeName}/${descriptor.name}`,
    descriptor: descriptor as DescMethodServerStreaming,
    errorDomain: "",
    rules: fieldRules(ruleBook([])),
  }));
}

function rowsOf(method: ServedMethod): string[][] {
  return bindingsOf(method).map(({ httpMethod, template, body }) => {
    const bodyName = typeof body === "string" ? { none: "-", whole: "*" }[body] : body.name;
    return [httpMethod, template.text, method.path.slice(1), bodyName, ...accessOf(method.descriptor)];
  });
}

function accessOf(descriptor: DescMethod): [capability: string, scope: string] {
  const rule = accessRuleOf(descriptor);
  if (!rule) return ["(own credential)", "-"];
  if (rule.type === "open") return ["(none)", "-"];
  const names = capabilityNames(capabilitySet(rule.capabilities)).join(", ") || "(any token)";
  return [names, rule.type === "scoped" ? rule.field : "(unscoped)"];
}
