// `gatehouse api`: sends one REST request with the session's token, for methods without a command.

import { Argument, type Command, Option } from "commander";
import { openSession, withClient } from "./client/session.ts";
import { clientCommands } from "./command-names.ts";
import { unknownValue, wrongUsage } from "./failure.ts";
import { readFile, readInput } from "./input.ts";
import type { Shell } from "./shell.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

interface ApiFlags {
  readonly data?: string;
  readonly queryParameter: readonly string[];
}

/** Adds the command. */
export function addApiCommand(program: Command, shell: Shell): void {
  const parameter = new Option("-q, --query-parameter <name=value>", "a parameter of the query; may be repeated");
  const command = program
    .command("api")
    .description(clientCommands.api)
    .addArgument(new Argument("<method>", methods.join(", ")).argParser(readMethod))
    .argument("<path>", "such as /iam/v2beta1/groups")
    .option("-d, --data <body|@file|->", "the body, as JSON; @ names a file, - is standard input")
    .addOption(
      parameter.argParser((value, earlier: readonly string[] = []) => [...earlier, value]).default([], "none"),
    );
  withClient(command, ["json", "yaml", "table", "none"]).action(
    async (method: string, path: string, flags: ApiFlags) => {
      using session = await openSession(shell, command);
      const { sendRequest } = await import("./api-request.ts");
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
