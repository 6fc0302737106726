// A person with a browser, for commands that ask for one.
import { setTimeout as pause } from "node:timers/promises";
import { newBrowser } from "../harness/browser.ts";

/** Milliseconds to wait for the address that a command prints. */
const timeoutMs = 20_000;

/** Opens the address that a command prints, and signs in as a person of the development server, such as `owner`. */
export async function answerSignIn(output: () => string, person: string): Promise<void> {
  const endsAt = Date.now() + timeoutMs;
  const printedAddress = () => /\bhttps?:\S+\/oauth\?\S+/.exec(output())?.[0];
  while (printedAddress() === undefined) {
    if (Date.now() > endsAt) throw new Error(`no address to sign in at: ${output()}`);
    await pause(20);
  }
  const browser = newBrowser();
  let page = await browser.visit(printedAddress()!);
  // A device without a browser: the page asks whether its code is the same.
  const onward = /class="action" href="([^"]+)"/.exec(page.text)?.[1];
  if (page.text.includes("code is <code>")) page = await browser.visit(onward!.replaceAll("&#38;", "&"));
  if (page.url.pathname.includes("/choose/"))
    await browser.visit(`${page.url.origin}${page.url.pathname}?name=${person}`);
}
