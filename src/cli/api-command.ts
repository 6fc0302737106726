// `gatehouse api`: sends one REST request with the session's token, for methods without a command.
import type { JsonValue } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { reach, readBody } from "./client/reach.ts";
import { openSession, type Session, withClient } from "./client/session.ts";
import { callTimeoutMs } from "./client/transport.ts";
import { printableLines } from "./escape.ts";
import { CommandFailure, unknownValue, wrongUsage } from "./failure.ts";
import { readFile, readInput } from "./input.ts";
import type { Shell } from "./shell.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** The maximum size of a printed response. */
const maxResponseBytes = 64 * 1024 * 1024;

interface ApiFlags {
  readonly data?: string;
  readonly queryParameter: readonly string[];
}

/** Adds the command. */
export function addApiCommand(program: Command, shell: Shell): void {
  const parameter = new Option("-q, --query-parameter <name=value>", "a parameter of the query; may be repeated");
  const command = program
    .command("api")
    .description("send one request of the REST API, and print the response")
    .addArgument(new Argument("<method>", methods.join(", ")).argParser(readMethod))
    .argument("<path>", "such as /iam/v2beta1/groups")
    .option("-d, --data <body|@file|->", "the body, as JSON; @ names a file, - is standard input")
    .addOption(
      parameter.argParser((value, earlier: readonly string[] = []) => [...earlier, value]).default([], "none"),
    );
  withClient(command, ["json", "yaml", "table", "none"]).action(
    async (method: string, path: string, flags: ApiFlags) => {
      using session = await openSession(shell, command);
      await sendRequest(
        session,
        method,
        addressOf(session.url, path, flags.queryParameter),
        await bodyOf(shell, flags.data),
      );
    },
  );
}

function readMethod(method: string): string {
  const known = methods.find((name) => name === method.toUpperCase());
  if (known) return known;
  throw unknownValue(
    `${JSON.stringify(method)} is not a method of the API`,
    method,
    methods,
    `Methods are ${methods.join(", ")}.`,
  );
}

/**
 * Returns the address of a path on the server. The token must not be sent elsewhere, so absolute addresses are
 * rejected.
 */
export function addressOf(server: string, path: string, parameters: readonly string[]): URL {
  if (!path.startsWith("/") || path.startsWith("//"))
    throw wrongUsage(`${JSON.stringify(path)} is not a path`, "It begins with one slash, such as /iam/v2beta1/groups.");
  const address = new URL(server + path);
  if (address.origin !== new URL(server).origin || address.hash !== "")
    throw wrongUsage(`${JSON.stringify(path)} is not a path of the server`);
  for (const parameter of parameters) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(parameter) ?? [];
    if (name === undefined) throw wrongUsage(`--query-parameter: ${JSON.stringify(parameter)} is not name=value`);
    address.searchParams.append(name, value ?? "");
  }
  return address;
}

async function bodyOf(shell: Shell, data: string | undefined): Promise<string | undefined> {
  if (data === "-") return await readInput(shell, data);
  return data?.startsWith("@") ? readFile(data.slice(1), "--data") : data;
}

/**
 * Sends the request, and again with another token if the server rejects the first one. A status from 400 is a failure.
 */
async function sendRequest(session: Session, method: string, address: URL, body: string | undefined): Promise<void> {
  if (body !== undefined && ["GET", "HEAD"].includes(method)) throw wrongUsage(`a ${method} request has no body`);
  const send = async (token: string) =>
    await reach(
      session.url,
      address,
      {
        method,
        redirect: "manual",
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body }),
      },
      callTimeoutMs,
    );
  const { token } = await session.credential();
  let response = await send(token);
  const renewed = response.status === 401 ? await session.renewed(token) : undefined;
  if (renewed) {
    await response.body?.cancel();
    response = await send(renewed.token);
  }
  await printResponse(session, response);
  if (response.status >= 300)
    throw new CommandFailure(`${session.url} answers ${response.status} ${response.statusText}`);
}

/** Prints JSON in the session's format; other text without characters that terminals interpret. */
async function printResponse(session: Session, response: Response): Promise<void> {
  const content = (await readBody(session.url, response, maxResponseBytes)).toString();
  if (content === "" || session.output.format === "none") return;
  const value = jsonOf(content);
  if (value !== undefined) await session.output.data(value);
  else session.shell.stdout.write(printableLines(content));
}

function jsonOf(content: string): JsonValue | undefined {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
