// A client of a registry that signs in where the registry requires it.
import { version } from "../../base/version.ts";
import { reach, readBody } from "../client/reach.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { answerChallenge, type SignInOptions } from "./sign-in.ts";

/** Reads from one registry. */
export interface RegistryClient {
  readonly origin: string;
  /** Requests a path. The scope is requested at sign-in, if the registry requires one. Fails for any error status. */
  get(path: string, scope: string, init?: RequestOptions): Promise<Response>;
  /** Like `get`, but returns undefined for 404. */
  find(path: string, scope: string, init?: RequestOptions): Promise<Response | undefined>;
  /** Reads the body of a response. Fails if it is longer than a registry document may be. */
  readBody(reply: Response): Promise<Buffer>;
}

/** Options of a request. */
export interface RequestOptions {
  readonly method?: "GET" | "HEAD";
  readonly accept?: string;
}

/** The time limit of a response with its body: layers and configurations are larger than other documents. */
const requestTimeoutMs = 60_000;
const maxDocumentBytes = 4 * 1024 * 1024;

/** Creates a client for a registry. Nothing is sent until the first request. */
export function newRegistryClient(address: string, options: SignInOptions): RegistryClient {
  const origin = parseAddress(address);
  const whom = `the registry at ${origin}`;
  const signIns = newSignIns(options);

  function send(path: string, { method = "GET", accept = "*/*" }: RequestOptions, authorization: string | undefined) {
    const headers = {
      accept,
      "user-agent": `gatehouse/${version}`,
      ...(authorization !== undefined && { authorization }),
    };
    // Layers and configurations may be redirected; fetch sends no credentials to another origin.
    return reach(whom, `${origin}${path}`, { method, headers }, requestTimeoutMs);
  }

  async function ask(path: string, scope: string, init: RequestOptions): Promise<Response> {
    const known = await signIns.find(scope);
    const reply = await send(path, init, known);
    if (reply.status !== 401) return reply;
    await reply.body?.cancel();
    const challenge = reply.headers.get("www-authenticate") ?? "";
    return await send(path, init, await signIns.renew(scope, known, challenge));
  }

  async function find(path: string, scope: string, init: RequestOptions = {}): Promise<Response | undefined> {
    const reply = await ask(path, scope, init);
    if (reply.ok) return reply;
    await reply.body?.cancel();
    if (reply.status === 404) return undefined;
    throw refusal(whom, path, reply.status);
  }

  return {
    origin,
    find,
    async get(path, scope, init) {
      const reply = await find(path, scope, init);
      if (!reply) throw refusal(whom, path, 404);
      return reply;
    },
    readBody: (reply) => readBody(whom, reply, maxDocumentBytes),
  };
}

function refusal(whom: string, path: string, status: number): CommandFailure {
  const hint =
    status === 401 || status === 403
      ? "It is not there, or the credentials do not cover it: --user and GATEHOUSE_REGISTRY_PASSWORD name others."
      : "";
  return new CommandFailure(`${whom} answers ${status} to ${path}`, { hint });
}

/** Authorization headers by scope; undefined if no sign-in is possible. */
function newSignIns(options: SignInOptions) {
  const begun = new Map<string, Promise<string | undefined>>();

  function begin(scope: string, challenge: string): void {
    const signIn = answerChallenge(challenge, scope, options);
    begun.set(scope, signIn);
    // A failed sign-in fails for everyone who waits for it; the next request starts another.
    signIn.catch(() => begun.get(scope) === signIn && begun.delete(scope));
  }

  return {
    find: async (scope: string) => await begun.get(scope),
    /** Replaces a rejected header. Concurrent requests share one sign-in. */
    async renew(scope: string, refused: string | undefined, challenge: string): Promise<string | undefined> {
      const current = begun.get(scope);
      const isRefused = current === undefined || (await current) === refused;
      if (isRefused && begun.get(scope) === current) begin(scope, challenge);
      return await begun.get(scope);
    },
  };
}

/** Returns the origin of an address. Wrong usage if the address contains more than that. */
function parseAddress(address: string): string {
  const url = URL.parse(address);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (isWeb && url.pathname === "/" && !url.search && !url.hash) return url.origin;
  throw wrongUsage(`${JSON.stringify(address)} is not the address of a registry such as https://registry.example.com`);
}
