// The session of a client command: server, token and output.
import type { DescMethod, DescMethodUnary, DescService, JsonObject } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import { wrongUsage } from "../failure.ts";
import { type Format, formats, type Output, openOutput } from "../output/output.ts";
import type { Shell } from "../shell.ts";
import { addressProblem } from "./address.ts";
import { type ClientConfig, readClientConfig } from "./config-file.ts";
import { type Credential, findCredential, findCredentialFor, renewCached, type Target } from "./credential.ts";
import {
  audienceOption,
  clientOptionsOf,
  contextOption,
  outputGroup,
  outputOptions,
  serverGroup,
  urlOption,
} from "./options.ts";
import { callTimeoutMs, failing, type Opened, openTransport } from "./transport.ts";

/** The flags of every client command. */
export interface ClientOptions {
  readonly context?: string;
  readonly url?: string;
  /** The first one is the session's audience. */
  readonly audience?: string | readonly string[];
  readonly issuer?: string;
  readonly output?: string;
  readonly headers?: boolean;
  readonly query?: string;
  readonly sort?: string;
  readonly limit?: number;
}

/** The session of a client command. Disposing of it closes the connection. */
export interface Session extends Disposable, Target {
  readonly shell: Shell;
  readonly config: ClientConfig;
  readonly output: Output;
  /** Returns the token for the API, or fails with a hint. */
  credential(): Promise<Credential>;
  /** Returns another token for the API after the server rejected one; undefined if there is none. */
  renewed(rejected: string): Promise<Credential | undefined>;
  /** Returns the token that the same server issued for another audience, or fails with a hint. */
  credentialFor(audience: string): Promise<Credential>;
  /** Returns a typed client of a service. Failed calls reject with CommandFailures with hints. */
  client<S extends DescService>(service: S): Promise<Client<S>>;
  /** Calls a method with the JSON of its request, and returns the JSON of its response. */
  call(method: DescMethod, request: JsonObject): Promise<JsonObject>;
}

/** The default address: where `npm start` listens. */
export const defaultUrl = "http://127.0.0.1:8080";

/** Adds the flags of every client command; `audience` replaces the usual flag of that name. */
export function withClient(
  command: Command,
  outputs: readonly Format[] = formats,
  audience: Option = audienceOption(),
): Command {
  for (const option of [urlOption(), audience, contextOption()]) command.addOption(option.helpGroup(serverGroup));
  for (const option of outputs.length > 0 ? outputOptions(outputs) : [])
    command.addOption(option.helpGroup(outputGroup));
  return command;
}

/** Adds the flags of a command that prints a list. */
export function withList(command: Command, outputs: readonly Format[] = formats): Command {
  withClient(command, outputs);
  command.addOption(new Option("--sort <field[:desc]>", "the column or field to sort by").helpGroup(outputGroup));
  // A command whose limit reaches the server has a flag of its own.
  if (command.options.some(({ long }) => long === "--limit")) return command;
  return command.addOption(
    new Option("--limit <count>", "how many to show at most").argParser(readCount).helpGroup(outputGroup),
  );
}

/** Parses a positive integer. */
export function readCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError("It is a whole number from 1.");
}

/**
 * Opens the session of a command that withClient was applied to. Nothing is sent before the first call. Expiring tokens
 * are renewed unless they are needed unchanged.
 */
export async function openSession(
  ownShell: Shell,
  command: Command,
  options: ClientOptions = clientOptionsOf(command),
  tokens: "renewed" | "as they are" = "renewed",
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
      const { fromJson, toJson } = await import("@bufbuild/protobuf");
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
