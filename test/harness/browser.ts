// A browser as far as signing in needs one: it keeps cookies by host and follows redirects, one at a time.

/** The page that a browser has reached. */
export interface Visit {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Cookie {
  readonly host: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
}

/** A browser with cookies of its own. */
export interface Browser {
  /** Goes to an address and on from there, until a page answers or a redirect leads to a port that nobody listens on. */
  visit(url: string): Promise<Visit>;
  /** Makes one request and follows nothing. */
  request(url: string): Promise<Visit>;
  /** Sends a request with the cookies of the browser, and follows nothing. */
  send(url: string, init: RequestInit): Promise<Visit>;
  /** Sends JSON as a page of the origin of the address would; `headers` replace those of the request. */
  post(url: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Visit>;
  readonly cookies: Map<string, Cookie>;
}

/** The loopback address that a command line would listen on; nobody does, so a browser stops there. */
const callback = "http://localhost:1/callback";

const maxHops = 15;

/** The answer of a person to the question whether they join an organization; `none` stays at the page. */
export type JoinAnswer = "join" | "not_now" | "decline" | "none";

/** Returns a browser without any cookie, whose person answers the question whether they join an organization. */
export function newBrowser({ answer = "join" }: { readonly answer?: JoinAnswer } = {}): Browser {
  const cookies = new Map<string, Cookie>();

  async function request(address: string): Promise<Visit> {
    const visit = await send(address, {});
    const question = questionOf(visit);
    return question && answer !== "none" ? await answerTo(question) : visit;
  }

  /** Opens the page of the question, and sends its form. */
  async function answerTo(question: URL): Promise<Visit> {
    const page = await send(question.href, {});
    return await send(page.url.origin + page.url.pathname, answerForm(page, answer));
  }

  async function send(address: string, init: RequestInit): Promise<Visit> {
    const url = new URL(address);
    const sent = [...cookies.values()].filter(({ host, path }) => host === url.host && url.pathname.startsWith(path));
    const cookie = sent.map(({ name, value }) => `${name}=${value}`).join("; ");
    const headers = { cookie, ...init.headers };
    const reply = await fetch(url, { redirect: "manual", ...init, headers });
    for (const line of reply.headers.getSetCookie()) keep(url.host, line);
    return { url, status: reply.status, headers: reply.headers, text: await reply.text() };
  }

  function keep(host: string, line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /; *path=([^;]+)/i.exec(line)?.[1] ?? "/";
    const key = `${host} ${path} ${name}`;
    if (/max-age=0\b/i.test(line) || value === "") cookies.delete(key);
    else cookies.set(key, { host, path, name, value });
  }

  return {
    cookies,
    request,
    send,
    post: (address, body = {}, headers = {}) =>
      send(address, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", origin: new URL(address).origin, ...headers },
      }),
    async visit(address) {
      let next = address;
      for (let hop = 0; hop < maxHops; hop++) {
        const visit = await request(next);
        const location = visit.headers.get("location");
        if (location === null) return visit;
        next = new URL(location, next).href;
        if (next.startsWith(callback)) return { ...visit, url: new URL(next) };
      }
      throw new Error(`${address} led to more than ${maxHops} others`);
    },
  };
}

/** Returns the address of the question whether the person joins an organization, if a response leads there. */
export function questionOf({ url, headers }: Visit): URL | undefined {
  const location = headers.get("location");
  const next = location === null ? undefined : new URL(location, url);
  return next?.pathname === "/oauth/join" ? next : undefined;
}

/** Returns the request by which a browser sends the form of that page. */
export function answerForm({ url, text }: Visit, answer: string): RequestInit {
  const secret = /name="sign_in" value="([^"]+)"/.exec(text)?.[1];
  if (secret === undefined) throw new Error(`there is no form at ${url.href}: ${text}`);
  const headers = { "content-type": "application/x-www-form-urlencoded", origin: url.origin };
  return { method: "POST", headers, body: new URLSearchParams({ sign_in: secret, answer }).toString() };
}

/** Returns the address of /oauth for a command line at `callback`. */
export function signInUrl(server: string, parameters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    exit: "redirect",
    redirect: `${callback}?token=true&error=true`,
    client_id: "auth0",
    ...parameters,
  });
  return `${server}/oauth?${query}`;
}

/** Signs in through the development provider as a person, and returns where the browser ends. */
export async function signInAs(name: string, url: string, browser: Browser = newBrowser()): Promise<Visit> {
  const chooser = await browser.visit(url);
  if (!chooser.url.pathname.includes("/choose/")) return chooser;
  return await browser.visit(`${chooser.url.origin}${chooser.url.pathname}?name=${name}`);
}

/** Returns the parameters that a command line finds in the address that the browser ends at. */
export function answersOf({ url }: Visit): Record<string, string> {
  if (!url.href.startsWith(callback)) throw new Error(`the browser stopped at ${url.href}`);
  return Object.fromEntries(url.searchParams);
}
