// Opens sessions: finds server, token and output, and connects with the first call.
import { type DescMethodUnary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { wrongUsage } from "../failure.ts";
import { formats } from "../output/formats.ts";
import { openOutput } from "../output/output.ts";
import type { Shell } from "../shell.ts";
import { addressProblem } from "./address.ts";
import { type ClientConfig, readClientConfig } from "./config-file.ts";
import { type Credential, findCredential, findCredentialFor, renewCached, type Target } from "./credential.ts";
import type { ClientOptions, Session } from "./session-types.ts";
import { callTimeoutMs, failing, type Opened, openTransport } from "./transport.ts";

/** The default address: where `npm start` listens. */
export const defaultUrl = "http://127.0.0.1:8080";

/** Opens a session for the options of a command. */
export async function openSessionWith(
  ownShell: Shell,
  command: Command,
  options: ClientOptions,
  tokens: "renewed" | "as they are",
): Promise<Session> {
  const shell = options.context === undefined ? ownShell : withoutServer(ownShell);
  const config = await readClientConfig(shell, options.context);
  const target = findTarget(shell, options, config);
  const format = options.output ?? configuredFormat(command, config) ?? "table";
  const { headers, query, sort, limit } = options;
  const output = await openOutput(shell, { format, headers, query, sort, limit });
  const { credential, credentialFor, renewed } = credentials(shell, target, tokens === "renewed");
  let opened: Promise<Opened> | undefined;
  const open = () => {
    opened ??= openTransport(target.url, {
      current: async () => (await credential()).token,
      renewed: async (rejected) => (await renewed(rejected))?.token,
    });
    return opened;
  };
  return {
    shell,
    config,
    output,
    ...target,
    credential,
    credentialFor,
    renewed,
    client: async (service) =>
      (await import("@connectrpc/connect")).createClient(service, failing((await open()).transport, target)),
    async call(method, request) {
      const unary = method as DescMethodUnary;
      const transport = failing((await open()).transport, target);
      const { message } = await transport.unary(unary, undefined, callTimeoutMs, {}, fromJson(unary.input, request));
      return toJson(unary.output, message) as JsonObject;
    },
    [Symbol.dispose]: () => void opened?.then(({ close }) => close()),
  };
}

/** A context that a flag names is nearer than variables that name a server. */
function withoutServer(shell: Shell): Shell {
  const { GATEHOUSE_URL: _url, GATEHOUSE_AUDIENCE: _audience, ...environment } = shell.environment;
  return { ...shell, environment };
}

/** Returns the credentials of a session: each is found once, and renewed when the server rejects it. */
function credentials(
  shell: Shell,
  target: Target,
  renews: boolean,
): Pick<Session, "credential" | "credentialFor" | "renewed"> {
  let ofApi: Promise<Credential> | undefined;
  let renewal: { readonly of: string; readonly found: Promise<Credential | undefined> } | undefined;
  const others = new Map<string, Promise<Credential>>();
  const find = async (search: typeof findCredential, wanted: Target) =>
    await search(shell, wanted, renews ? (await import("./refresh.ts")).refresher(shell, wanted) : undefined);
  const renew = async (rejected: string) => {
    if (!renews) return undefined;
    const { refresher } = await import("./refresh.ts");
    const found = await renewCached(shell, target, refresher(shell, target), rejected);
    if (found) ofApi = Promise.resolve(found);
    return found;
  };
  return {
    credential() {
      ofApi ??= find(findCredential, target);
      return ofApi;
    },
    renewed(rejected) {
      // Concurrent calls may get the same rejection.
      if (renewal?.of !== rejected) renewal = { of: rejected, found: renew(rejected) };
      return renewal.found;
    },
    credentialFor(audience) {
      const found = others.get(audience) ?? find(findCredentialFor, { ...target, audience });
      others.set(audience, found);
      return found;
    },
  };
}

/** Returns the configured output format if the command has it. */
function configuredFormat(command: Command, config: ClientConfig): string | undefined {
  const choices = command.options.find((option) => option.attributeName() === "output")?.argChoices ?? [];
  const format = config["output.format"];
  // An unknown format is a mistake in the file, which openOutput reports.
  const isKnown = formats.some((known) => known === format);
  return format !== undefined && (!isKnown || choices.includes(format)) ? format : undefined;
}

/** Returns the server: from the flag, the variable, the file or the default. */
export function findTarget(shell: Shell, options: ClientOptions, config: ClientConfig): Target {
  const address = options.url ?? (shell.environment.GATEHOUSE_URL || config["platform.api"]) ?? defaultUrl;
  const url = parseAddress(address, "It is named with --url, GATEHOUSE_URL or platform.api.");
  const [named] = [options.audience ?? []].flat();
  const audience = named ?? configuredAudience(shell, config) ?? url;
  // As in the SDK: if API and issuer have separate hosts, their names differ in this word.
  const issuer =
    options.issuer === undefined
      ? url.replace("console-api", "issuer")
      : parseAddress(options.issuer, "It is named with --issuer.");
  return { url, issuer, audience };
}

/** Returns the audience of API tokens if it is not the API's address: from the variable or the file. */
export function configuredAudience({ environment }: Shell, config: ClientConfig): string | undefined {
  return environment.GATEHOUSE_AUDIENCE || config["platform.audience"];
}

/** Returns an http or https address without trailing slashes. Fails with the hint if it is not valid. */
function parseAddress(text: string, hint: string): string {
  const address = text.replace(/\/+$/, "");
  const problem = addressProblem(address);
  if (problem !== undefined) throw wrongUsage(problem, hint);
  return address;
}
