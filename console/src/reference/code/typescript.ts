// A call as a program in TypeScript with gatehouse-client.
import { camel, type Field, type Grpc } from "../documents.ts";
import { messageOf } from "../request.ts";
import { type Call, folderOf, hasToken, namesOf, numberText } from "./call.ts";
import { block, type Dialect, type FieldCode, messageCode, pathsOf, secondsOf } from "./message.ts";

/** Names by the modules that they are imported from. */
type Imports = Map<string, Set<string>>;

/** Returns the program. It prints what the server responds with. */
export function typescript(call: Call): string {
  const { grpc, service, method } = call;
  const imports: Imports = new Map();
  const use = (module: string, name: string) => {
    imports.set(module, (imports.get(module) ?? new Set()).add(name));
    return name;
  };
  use("gatehouse-client/node", "openClient");
  const tokens = hasToken(call)
    ? [`tokens: ${use("gatehouse-client/node", "staticToken")}(process.env.TOKEN ?? "")`]
    : [];
  const name = use(moduleOf(grpc.services[service]!.file), service.split(".").at(-1)!);
  const options = block("{", [`url: ${JSON.stringify(call.origin)}`, ...tokens], "}", "  ", " ");
  const request = messageCode(dialectOf(grpc, use), grpc, method.input, messageOf(call));
  const schema = use(moduleOfType(grpc, method.output), `${namesOf(method.output).join("_")}Schema`);
  const print = `${use("@bufbuild/protobuf", "toJsonString")}(${schema}, response, { prettySpaces: 2 })`;
  return [
    ...[...imports].sort().map(([module, names]) => `import { ${[...names].sort().join(", ")} } from "${module}";`),
    "",
    `const client = openClient(${options});`,
    `const response = await client.service(${name}).${lowerFirst(method.name)}(${request});`,
    `console.log(${print});`,
    "client.close();",
    "",
  ].join("\n");
}

function moduleOf(file: string): string {
  return `gatehouse-client/${folderOf(file)}`;
}

function moduleOfType(grpc: Grpc, type: string): string {
  return type.startsWith("google.protobuf.") ? wkt : moduleOf(grpc.types[type]!.file);
}

const wkt = "@bufbuild/protobuf/wkt";

function dialectOf(grpc: Grpc, use: (module: string, name: string) => string): Dialect {
  return {
    list: (_field, items) => block("[", items, "]", "  "),
    map: (_field, entries) => object(entries.map(([key, code]) => `${JSON.stringify(key)}: ${code}`)),
    message: (_type, fields) => object(fields.map(memberOf)),
    scalar(field, type, value) {
      if (field.enum !== undefined) return enumCode(grpc, field.enum, value, use);
      return scalarCode(field, type, value);
    },
    wellKnown(type, value) {
      switch (type.split(".").at(-1)) {
        case "Timestamp":
          if (/\.\d{4,}/.test(String(value))) return secondsCode(value);
          secondsOf(value);
          return `${use(wkt, "timestampFromDate")}(new Date(${JSON.stringify(value)}))`;
        case "Duration":
          return secondsCode(value);
        case "FieldMask":
          return object([
            `paths: ${block(
              "[",
              pathsOf(value).map((path) => JSON.stringify(path)),
              "]",
              "  ",
            )}`,
          ]);
        case "Value":
        case "ListValue":
          return `${use("@bufbuild/protobuf", "fromJson")}(${use(wkt, `${type.split(".").at(-1)}Schema`)}, ${JSON.stringify(value)})`;
        default:
          return JSON.stringify(value);
      }
    },
  };
}

function object(members: readonly string[]): string {
  return block("{", members, "}", "  ", " ");
}

function memberOf({ field, code }: FieldCode): string {
  const name = camel(field.name);
  if (field.oneof === undefined) return `${name}: ${code}`;
  return `${camel(field.oneof)}: ${object([`case: ${JSON.stringify(name)}`, `value: ${code}`])}`;
}

function secondsCode(value: unknown): string {
  const { seconds, nanos } = secondsOf(value);
  return `{ seconds: ${seconds}n, nanos: ${nanos} }`;
}

function scalarCode(field: Field, type: string, value: unknown): string {
  if (type === "bool") return String(value === true || value === "true");
  if (type === "string") return JSON.stringify(String(value));
  if (type === "bytes") return `Buffer.from(${JSON.stringify(value)}, "base64")`;
  const text = numberText(field.name, value);
  return /64$/.test(type) ? `${BigInt(text)}n` : text;
}

/** Returns a member of an enum, called as generated code calls it: without the name of the enum before it. */
function enumCode(grpc: Grpc, type: string, value: unknown, use: (module: string, name: string) => string): string {
  const { values = [], file } = grpc.types[type]!;
  const found = values.find(({ name, number }) => name === value || number === value);
  if (!found) throw new Error(`${type} has no value ${String(value)}`);
  const names = namesOf(type);
  const prefix = `${names
    .at(-1)!
    .replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()}_`;
  const isShared = values.every(({ name }) => name.startsWith(prefix) && /^[A-Z]/.test(name.slice(prefix.length)));
  return `${use(moduleOf(file), names.join("_"))}.${isShared ? found.name.slice(prefix.length) : found.name}`;
}

function lowerFirst(name: string): string {
  return name.slice(0, 1).toLowerCase() + name.slice(1);
}
