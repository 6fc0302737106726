// Whether a server takes idempotency keys. One that does not would execute a repeated write again.

/** The document in which a server says it, and the member. */
const documentPath = "/.well-known/openid-configuration";
const member = "idempotency_keys_supported";

/** Returns whether the server takes idempotency keys. Rejects if it does not respond. */
export type KeySupport = () => Promise<boolean>;

/** Reads a document that needs no token, such as `fetch` does. */
export type FetchDocument = (url: string) => Promise<Pick<Response, "ok" | "status" | "json">>;

/** How long to wait for the document, in milliseconds. */
const patienceMs = 10_000;

const fetchDocument: FetchDocument = (url) => fetch(url, { signal: AbortSignal.timeout(patienceMs) });

/** Returns the function that asks a server whether it takes idempotency keys, with its first call that gets a response. */
export function keySupportOf(url: string, read: FetchDocument = fetchDocument): KeySupport {
  let known: boolean | undefined;
  return async () => {
    known ??= await askFor(url, read);
    return known;
  };
}

async function askFor(url: string, read: FetchDocument): Promise<boolean> {
  const response = await read(url.replace(/\/+$/, "") + documentPath);
  if (response.status >= 500) throw new Error(`HTTP ${response.status}`);
  // Another kind of server has no such document, or has it in another form.
  const document: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  return typeof document === "object" && document !== null && Reflect.get(document, member) === true;
}
