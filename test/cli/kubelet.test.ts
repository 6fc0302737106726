// The credential provider of the kubelet gives the token of a pod to the registry of the image only.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { provideKubeletCredentials } from "../../src/cli/auth/kubelet.ts";
import type { Shell } from "../../src/cli/shell.ts";

const registry = "registry.example.com";
const user = "a".repeat(40);
const apiVersion = "credentialprovider.kubelet.k8s.io/v1";

/** Returns the response to a request for an image. */
async function respond(image: string): Promise<{ readonly auth: object }> {
  let printed = "";
  const request = { apiVersion, kind: "CredentialProviderRequest", image, serviceAccountToken: "token" };
  const stdout = { write: (text: string) => (printed += text) };
  await provideKubeletCredentials({ stdin: [JSON.stringify(request)], stdout } as unknown as Shell, { registry, user });
  return JSON.parse(printed);
}

describe("the credential provider of the kubelet, as a command", () => {
  it("an image of the registry gets the token of the pod", async () => {
    const { auth } = await respond(`${registry}/org/app:1`);
    assert.deepEqual(auth, { [registry]: { username: user, password: "token" } });
  });

  for (const image of [`${registry}.evil.example/org/app:1`, `${registry}:5000/org/app:1`, "elsewhere.example/app"])
    it(`the image ${image} of another registry gets no token`, async () => {
      await assert.rejects(respond(image), /the image is not of registry\.example\.com/);
    });
});
