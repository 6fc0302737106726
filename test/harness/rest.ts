// REST as a caller without any library would speak it.

/** A reply: its status, its headers, its JSON (undefined when there is no body). */
export interface RestReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON; the assertions check them
  readonly body: any;
}

/** Sends one request; a body that is not a text is sent as JSON. */
export async function rest(
  url: string,
  token: string | undefined,
  method: string,
  path: string,
  body?: unknown,
): Promise<RestReply> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const reply = await fetch(url + path, { method, headers, ...(text === undefined ? {} : { body: text }) });
  const received = await reply.text();
  return { status: reply.status, headers: reply.headers, body: received === "" ? undefined : JSON.parse(received) };
}
