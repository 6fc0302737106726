import { test } from "node:test";
import { startIdentityProvider } from "./harness/identity-provider.ts";
import { startTestServer } from "./harness/server.ts";
import { walkThrough } from "./harness/walkthrough.ts";

test("the walkthrough of the specification", async (t) => {
  await using provider = await startIdentityProvider(["build-pipeline", "someone-else"]);
  await using server = await startTestServer();
  await walkThrough(t, server, provider);
});
