// The tabs with code in the API reference, as a browser shows them. test/console/reference runs the same code.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { Call } from "../../console/src/reference/code/call.ts";
import { type Language, languages } from "../../console/src/reference/code/languages.ts";
import { comparable, responseOf, startTypedCalls, type TypedCalls } from "../console/reference/calls.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, openConsole } from "./console.ts";

const tabs: readonly Language[] = ["curl", "typescript", "go", "python"];

describe("the code tabs of the API reference", { timeout: 300_000 }, () => {
  let browser: Browser;
  let typed: TypedCalls;
  before(async () => {
    buildConsole();
    typed = await startTypedCalls();
    // Only operators write readmes.
    for (const role of ["owner", "operator"]) await bindRole(typed.server, "owner", role);
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
    await typed?.[Symbol.asyncDispose]();
  });

  it("four tabs of 20 methods show the code of the typed values, and Send call gets the response that this code prints", async () => {
    await using reference = await openConsole(browser, typed.server, { path: "/docs/api" });
    const { page, complaints } = reference;
    await page.goto(`${typed.server.url}/docs/api/gatehouse.access.v1.AccessService/ListCapabilities`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "owner", exact: true }).click();
    await page.getByRole("button", { name: "Send call" }).waitFor();
    const seen = new Set<string>();
    for (const call of typed.calls) {
      const name = `${call.service}/${call.method.name}`;
      seen.add(name);
      await page.goto(`${typed.server.url}/docs/api/${name}`);
      await type(page, call);
      for (const tab of tabs) {
        await page.getByRole("button", { name: languages[tab].name, exact: true }).click();
        const shown = await page.getByRole("region", { name: "Call it" }).locator("pre").first().textContent();
        assert.equal(shown, languages[tab].code(call), `${name} ${tab}`);
      }
      assert.deepEqual(await sendCall(page), comparable(await responseOf(call, typed.token)), name);
    }
    assert.ok(seen.size >= 20, String(seen.size));
    assert.deepEqual(complaints, []);
  });
});

/** Types the values of a call into the form, and its body as JSON. */
async function type(page: Page, { operation, draft }: Call): Promise<void> {
  await page.getByRole("heading", { name: "Call it" }).waitFor();
  // Fields of uids wait for the session.
  await page.getByRole("button", { name: "Send call" }).waitFor();
  const form = page.getByRole("region", { name: "Call it" });
  for (const summary of await form.locator("summary").all()) await summary.click();
  for (const [name, value] of Object.entries(draft.parameters)) {
    const field = form.locator(".field", { has: page.locator(`label code:text-is("${name}")`) });
    const typed = field.getByRole("button", { name: "Type the uid" });
    if (await typed.count()) await typed.click();
    const control = field.locator("input, select");
    if (await control.and(page.locator("select")).count()) await control.selectOption(value);
    else await control.fill(value);
  }
  if (!operation?.requestBody) return;
  await form.getByRole("button", { name: "JSON", exact: true }).click();
  await form.getByRole("textbox", { name: "Body" }).fill(draft.body);
}

/** Sends the call. Returns the response without what differs from call to call. */
async function sendCall(page: Page): Promise<unknown> {
  await page.getByRole("button", { name: "Send call" }).click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Send call" });
  const result = page.getByText("✓ 200");
  await confirm.or(result).first().waitFor();
  if (await confirm.isVisible()) await confirm.click();
  await result.waitFor();
  const response = page.locator('section[aria-label="Response to this call"] pre');
  return comparable((await response.textContent()) ?? "");
}
