// Sends requests of AuthZEN as a gateway does.
import type { TestServer } from "../harness/server.ts";

/** The response to a request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON; the assertions check them
  readonly body: any;
}

/** Sends a body to an endpoint; one that is not a text is sent as JSON. Headers with an empty value are left out. */
export async function ask(
  server: Pick<TestServer, "url">,
  token: string,
  endpoint: string,
  body: unknown,
  changes: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", ...changes };
  const sent = Object.entries(headers).filter(([, value]) => value !== "");
  const isBytes = body instanceof Uint8Array;
  const reply = await fetch(`${server.url}/access/v1/${endpoint}`, {
    method: "POST",
    headers: Object.fromEntries(sent),
    // A text would bring a content type of its own.
    body: isBytes ? Buffer.from(body) : Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  });
  const text = await reply.text();
  const isJson = reply.headers.get("content-type") === "application/json";
  return { status: reply.status, headers: reply.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** Makes the entities of an evaluation. */
export function question(subject: string, action: string, resource: string, resourceType = "group", type = "identity") {
  return { subject: { type, id: subject }, action: { name: action }, resource: { type: resourceType, id: resource } };
}
