// A call as a program in Go with grpc-go and the code that docs/clients.md generates.
import type { Field, Grpc } from "../documents.ts";
import { messageOf } from "../request.ts";
import { type Call, folderOf, hasToken, namesOf, numberText } from "./call.ts";
import { block, type Dialect, type FieldCode, mapTypes, messageCode, pathsOf, secondsOf } from "./message.ts";

/** The module into which docs/clients.md generates code. */
const generated = "example.com/program/gatehouse";

/** Import paths by their names in the program. */
type Imports = Map<string, string>;

/** Returns the program. It prints what the server responds with. */
export function go(call: Call): string {
  const { grpc, service, method } = call;
  const imports: Imports = new Map([
    ["context", "context"],
    ["fmt", "fmt"],
    ["log", "log"],
    ["grpc", "google.golang.org/grpc"],
    ["protojson", "google.golang.org/protobuf/encoding/protojson"],
  ]);
  const alias = useFolder(imports, folderOf(grpc.services[service]!.file));
  const request = messageCode(new GoDialect(grpc, imports), grpc, method.input, messageOf(call));
  const body = [
    ...connect(call, imports),
    `client := ${alias}.New${goName(service.split(".").at(-1)!)}Client(connection)`,
    `response, err := client.${goName(method.name)}(ctx, ${request})`,
    "if err != nil {\n\tlog.Fatal(err)\n}",
    "fmt.Println(protojson.Format(response))",
  ].join("\n");
  const lines = [...imports].sort(([, a], [, b]) => (a < b ? -1 : 1)).map(importLine);
  return `package main\n\nimport (\n${lines.join("\n")}\n)\n\nfunc main() {\n${body.replace(/^(?=.)/gm, "\t")}\n}\n`;
}

function connect(call: Call, imports: Imports): readonly string[] {
  const { protocol, host, port } = new URL(call.origin);
  const isSecure = protocol === "https:";
  const name = isSecure ? "credentials" : "insecure";
  imports.set(name, `google.golang.org/grpc/credentials${isSecure ? "" : "/insecure"}`);
  const channel = isSecure ? "credentials.NewTLS(nil)" : "insecure.NewCredentials()";
  const address = port === "" ? `${host}:${isSecure ? 443 : 80}` : host;
  const context = "context.Background()";
  if (hasToken(call)) {
    imports.set("os", "os");
    imports.set("metadata", "google.golang.org/grpc/metadata");
  }
  return [
    `connection, err := grpc.NewClient(${JSON.stringify(address)}, grpc.WithTransportCredentials(${channel}))`,
    "if err != nil {\n\tlog.Fatal(err)\n}",
    "defer connection.Close()",
    hasToken(call)
      ? `ctx := metadata.AppendToOutgoingContext(${context}, "authorization", "Bearer "+os.Getenv("TOKEN"))`
      : `ctx := ${context}`,
  ];
}

function importLine([name, path]: readonly [string, string]): string {
  return path.split("/").at(-1) === name ? `\t"${path}"` : `\t${name} "${path}"`;
}

/** Imports a folder of generated code. Returns its name in the program: "iamv2beta1". */
function useFolder(imports: Imports, folder: string): string {
  const parts = folder.split("/");
  const name = parts.slice(/^v\d/.test(parts.at(-1)!) ? -2 : -1).join("");
  imports.set(name, `${generated}/${folder}`);
  return name;
}

const scalars: Readonly<Record<string, string>> = { double: "float64", float: "float32", bytes: "[]byte" };

class GoDialect implements Dialect {
  readonly #grpc: Grpc;
  readonly #imports: Imports;

  constructor(grpc: Grpc, imports: Imports) {
    this.#grpc = grpc;
    this.#imports = imports;
  }

  scalar(field: Field, type: string, value: unknown): string {
    if (field.enum !== undefined) return this.#enum(field, value);
    const code = scalarCode(field, type, value);
    if (!field.isOptional) return code;
    this.#imports.set("proto", "google.golang.org/protobuf/proto");
    return `proto.${upperFirst((scalars[type] ?? type).replace("[]byte", "Bytes"))}(${code})`;
  }

  list(field: Field, items: readonly string[]): string {
    return block(`[]${this.#typeOf(field, field.type)}{`, items, "}", "\t");
  }

  map(field: Field, entries: readonly (readonly [string, string])[]): string {
    const { key, value } = mapTypes(field);
    const members = entries.map(([name, code]): Member => [key === "string" ? text(name) : name, code]);
    return keyed(`map[${key}]${this.#typeOf(field, value)}{`, members);
  }

  message(type: string, fields: readonly FieldCode[]): string {
    return keyed(
      `&${this.#nameOf(type)}{`,
      fields.map((one) => this.#member(type, one)),
    );
  }

  wellKnown(type: string, value: unknown): string {
    const name = type.split(".").at(-1)!;
    const { package: alias, path } = wellKnownPackages[name] ?? wellKnownPackages.Struct!;
    this.#imports.set(alias, `google.golang.org/protobuf/types/known/${path}`);
    if (name === "Empty") return "&emptypb.Empty{}";
    if (name === "FieldMask")
      return `&fieldmaskpb.FieldMask{Paths: ${block("[]string{", pathsOf(value).map(text), "}", "\t")}}`;
    if (alias !== "structpb") {
      const { seconds, nanos } = secondsOf(value);
      return `&${alias}.${name}{Seconds: ${seconds}, Nanos: ${nanos}}`;
    }
    const code = structValue(value);
    return name === "Value" ? code : `${code}.Get${name}Value()`.replace("ListValueValue", "ListValue");
  }

  #member(type: string, { field, code }: FieldCode): Member {
    const name = goName(field.name);
    if (field.oneof === undefined) return [name, code];
    const wrapper = `${this.#nameOf(type)}_${name}`;
    // A wrapper gives way to a nested type of its name.
    const isTaken = Object.hasOwn(this.#grpc.types, `${type}.${name}`);
    return [goName(field.oneof), keyed(`&${wrapper}${isTaken ? "_" : ""}{`, [[name, code]])];
  }

  #enum(field: Field, value: unknown): string {
    const type = field.enum!;
    const { values = [], file } = this.#grpc.types[type]!;
    const found = values.find(({ name, number }) => name === value || number === value);
    if (!found) throw new Error(`${type} has no value ${String(value)}`);
    // The values of a nested enum are called after the message around it.
    const names = namesOf(type);
    const parent = (names.length > 1 ? names.slice(0, -1) : names).map(goName).join("_");
    const code = `${useFolder(this.#imports, folderOf(file))}.${parent}_${found.name}`;
    return field.isOptional ? `${code}.Enum()` : code;
  }

  #nameOf(type: string): string {
    return `${useFolder(this.#imports, folderOf(this.#grpc.types[type]!.file))}.${namesOf(type).map(goName).join("_")}`;
  }

  #typeOf(field: Field, type: string): string {
    if (field.enum !== undefined) return this.#nameOf(field.enum);
    if (field.message === undefined) return scalars[type] ?? type;
    if (!field.message.startsWith("google.protobuf.")) return `*${this.#nameOf(field.message)}`;
    const name = field.message.split(".").at(-1)!;
    return `*${(wellKnownPackages[name] ?? wellKnownPackages.Struct!).package}.${name}`;
  }
}

type Member = readonly [key: string, code: string];

/** Joins members as gofmt does: on lines of their own, the values of neighbours that have one line each begin in the same column. */
function keyed(open: string, members: readonly Member[]): string {
  const lines = block(
    open,
    members.map(([key, code]) => `${key}: ${code}`),
    "}",
    "\t",
  );
  if (!lines.includes("\n")) return lines;
  const isShort = (member: Member | undefined) => member !== undefined && !member[1].includes("\n");
  const widthAt = (index: number) => {
    let [first, last] = [index, index];
    while (isShort(members[first - 1])) first--;
    while (isShort(members[last + 1])) last++;
    return Math.max(...members.slice(first, last + 1).map(([key]) => key.length));
  };
  const aligned = members.map(([key, code], index) =>
    isShort([key, code]) ? `${`${key}:`.padEnd(widthAt(index) + 1)} ${code}` : `${key}: ${code}`,
  );
  return block(open, aligned, "}", "\t");
}

const wellKnownPackages: Readonly<Record<string, { readonly package: string; readonly path: string }>> =
  Object.fromEntries(
    [
      ["Timestamp", "timestamppb"],
      ["Duration", "durationpb"],
      ["FieldMask", "fieldmaskpb"],
      ["Empty", "emptypb"],
      ["Struct", "structpb"],
    ].map(([name, alias]) => [name, { package: alias, path: alias }]),
  );

function structValue(value: unknown): string {
  if (value === null) return "structpb.NewNullValue()";
  if (typeof value === "string") return `structpb.NewStringValue(${text(value)})`;
  if (typeof value === "object") {
    const list = Array.isArray(value) ? value.map(structValue) : undefined;
    const members = Object.entries(value).map(([name, member]): Member => [text(name), structValue(member)]);
    if (list)
      return `structpb.NewListValue(&structpb.ListValue{Values: ${block("[]*structpb.Value{", list, "}", "\t")}})`;
    return `structpb.NewStructValue(&structpb.Struct{Fields: ${keyed("map[string]*structpb.Value{", members)}})`;
  }
  return `structpb.New${typeof value === "boolean" ? "Bool" : "Number"}Value(${String(value)})`;
}

function scalarCode(field: Field, type: string, value: unknown): string {
  if (type === "bool") return String(value === true || value === "true");
  if (type === "string") return text(String(value));
  if (type !== "bytes") return numberText(field.name, value);
  const bytes = [...atob(String(value))].map((char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return `[]byte("${bytes.join("")}")`;
}

/** Quotes a text. Go has no lone surrogates. */
function text(value: string): string {
  return JSON.stringify(value.replace(/\p{Surrogate}/gu, "\ufffd"));
}

/** Returns a name as protoc-gen-go writes it: `issuer_keys` is IssuerKeys. */
function goName(name: string): string {
  return upperFirst(name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()));
}

function upperFirst(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
