// "Copy as": the same call for a terminal, made from the descriptors. The token is a variable, never its value.
import { create, type DescMethodUnary, getOption, hasOption, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";

/** A call as commands. */
export interface Commands {
  readonly curl: string;
  readonly grpcurl: string;
  readonly gatehouse: string;
}

type Json = Record<string, unknown>;

/** Returns the commands of a call. */
export function commandsOf<M extends DescMethodUnary>(method: M, request: MessageInitShape<M["input"]>): Commands {
  const json = toJson(method.input, create(method.input, request)) as Json;
  const host = location.host;
  const plaintext = location.protocol === "http:" ? "-plaintext " : "";
  const grpcurl = [
    `grpcurl ${plaintext}-H "Authorization: Bearer $TOKEN"`,
    `-d ${quote(JSON.stringify(json))}`,
    `${host} ${method.parent.typeName}/${method.name}`,
  ].join(" ");
  const { verb, path, query, body } = restOf(method, json);
  const search = new URLSearchParams(query).toString();
  const curl = [
    `curl -H "Authorization: Bearer $TOKEN"`,
    ...(verb === "GET" ? [] : [`-X ${verb}`]),
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body))}`]),
    quote(location.origin + path + (search === "" ? "" : `?${search}`)),
  ].join(" ");
  const gatehouse = [
    `gatehouse api ${verb} ${quote(path)}`,
    ...query.map(([name, value]) => `-q ${quote(`${name}=${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body))}`]),
  ].join(" ");
  return { curl, grpcurl, gatehouse };
}

function restOf(method: DescMethodUnary, json: Json) {
  const rule = hasOption(method, http) ? getOption(method, http) : undefined;
  const { case: verb = "post", value: template = "" } = rule?.pattern ?? {};
  const rest = structuredClone(json);
  const path = String(template).replace(/\{([\w.]+)(?:=[^}]*)?\}/g, (_match, field: string) => {
    const value = take(rest, field.split(".").map(toCamel));
    return String(value ?? "")
      .split("/")
      .map(encodeURIComponent)
      .join("/");
  });
  const name = rule?.body ?? "";
  const body = name === "" ? undefined : name === "*" ? rest : (take(rest, [toCamel(name)]) ?? {});
  return { verb: verb.toUpperCase(), path, query: name === "*" ? [] : pairsOf(rest), body };
}

function take(from: Json, [first = "", ...others]: readonly string[]): unknown {
  const value = from[first];
  if (others.length > 0) return typeof value === "object" && value !== null ? take(value as Json, others) : undefined;
  delete from[first];
  return value;
}

function pairsOf(from: Json, prefix = ""): [string, string][] {
  return Object.entries(from).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return value.map((one) => [prefix + name, String(one)]);
    if (typeof value === "object" && value !== null) return pairsOf(value as Json, `${prefix}${name}.`);
    return [[prefix + name, String(value)]];
  });
}

function toCamel(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
