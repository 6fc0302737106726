// The page on which a user of a development server chooses a character.

import { markup, page } from "../../sign-in/html.ts";
import { MessageExchange } from "../../transport/http/exchange.ts";
import type { HttpRequest, HttpResponse } from "../../transport/http/message.ts";
import { sendPage } from "../../transport/pages/pages.ts";

/** A character. */
export interface Character {
  /** The subject of their tokens. */
  readonly name: string;
  /** Their built-in roles in the sample organization. */
  readonly roles: readonly string[];
  readonly description: string;
}

/** The predefined characters. Typing another name creates a new user. */
export const characters: readonly Character[] = [
  { name: "owner", roles: ["owner", "operator"], description: "owns example.org and operates this server" },
  { name: "viewer", roles: ["viewer"], description: "may look at everything in example.org" },
];

const namePattern = /^[a-z0-9](?:[a-z0-9.-]{0,30}[a-z0-9])?$/;

/** Returns the chosen name; undefined if none was chosen yet. */
export function readChoice(query: URLSearchParams): string | undefined {
  const name = query.get("name") ?? "";
  return namePattern.test(name) ? name : undefined;
}

/** Sends the page. */
export function chooserPage(path: string, request: HttpRequest, response: HttpResponse): void {
  const choices = characters.map(
    ({ name, description }) =>
      markup`<li><a class="action" href="${path}?name=${name}">${name}</a> ${description}</li>`,
  );
  const body = markup`<p>This is a development server: sign in as anyone you like. Nothing here is a real account.</p>
<ul>
${choices}
</ul>
<form action="${path}" method="get">
<label for="name">Another person, who holds no role until one is bound or an invite is accepted</label>
<input id="name" name="name" required maxlength="32" pattern="[a-z0-9]([a-z0-9.\\-]{0,30}[a-z0-9])?" autocomplete="off" title="lower-case letters, digits, dots and hyphens">
<button type="submit">Sign in</button>
</form>`;
  sendPage(new MessageExchange(request, response), page(200, "Who are you?", body));
}
