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
  const { url } = await browser.visit(printedAddress()!);
  if (url.pathname.includes("/choose/")) await browser.visit(`${url.origin}${url.pathname}?name=${person}`);
}
