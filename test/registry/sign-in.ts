// A registry client signing in, as docker, skopeo and crane do it.
import { decodeJwt, decodeProtectedHeader } from "jose";

/** The result of a sign-in. */
export interface SignIn {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
  readonly body: any;
  /** The access of the token, one "type:name:actions" each; undefined when there is no token. */
  readonly access: readonly string[] | undefined;
}

/** The name of the test server's registry. */
export const service = "registry.gatehouse.internal";

/** Returns the header of Basic credentials. */
export function basic(user: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}

/** `GET /token?service&scope…`. */
export async function getToken(
  url: string,
  headers: Record<string, string>,
  scopes: readonly string[],
  named = service,
) {
  const query = new URLSearchParams([["service", named], ["account", "_token"], ...scopes.map((s) => ["scope", s])]);
  return read(await fetch(`${url}/token?${query}`, { headers }));
}

/** `POST /token` with a form. */
export async function postToken(url: string, form: Record<string, string>): Promise<SignIn> {
  return read(await fetch(`${url}/token`, { method: "POST", body: new URLSearchParams(form) }));
}

/** Returns the header and the claims of a token. */
export function readToken(token: string) {
  return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
}

async function read(reply: Response): Promise<SignIn> {
  const body = (await reply.json()) as SignIn["body"];
  const token: unknown = body.token;
  const access = typeof token === "string" ? accessOf(token) : undefined;
  return { status: reply.status, headers: reply.headers, body, access };
}

function accessOf(token: string): string[] {
  const { access } = decodeJwt<{ access: { type: string; name: string; actions: string[] }[] }>(token);
  return access.map(({ type, name, actions }) => `${type}:${name}:${actions.join(",")}`);
}
