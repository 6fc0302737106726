// A server that is told of a registry, and what becomes of it.
import { randomUUID } from "node:crypto";
import { rest } from "../harness/rest.ts";
import { type DatabaseKind, startTestServer, type TestServer, type TestServerOptions } from "../harness/server.ts";
import { type OutsideRegistry, startOutsideRegistry } from "./outside-registry.ts";

/** The secret that the registry sends with notifications. */
export const secret = "only for this test, and long enough";

export const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** Returns a digest that nothing has. */
export const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;

/** A server and its registry, and what both are asked. */
export interface Listening extends AsyncDisposable {
  readonly server: TestServer;
  readonly registry: OutsideRegistry;
  /** Sends a notification as it is. */
  send(
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  /** Sends one of CNCF Distribution. */
  distribution(...events: readonly object[]): ReturnType<Listening["send"]>;
  /** Returns a push to a repo of the organization, as CNCF Distribution tells it. */
  push(name: string, tag: string | undefined, digest: string): object;
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
  get(path: string): Promise<any>;
  repoOf(name: string, group?: string): Promise<string | undefined>;
  /** Returns the tags of a repo of the organization, name -> digest. */
  tagsOf(name: string): Promise<Record<string, string>>;
  /** Returns the server's data of an image. */
  about(name: string, digest: string, what: string): ReturnType<Listening["get"]>;
}

/** Starts both. */
export async function startListening(
  database: DatabaseKind,
  further: TestServerOptions["settings"] = {},
): Promise<Listening> {
  const registry = await startOutsideRegistry();
  // Tests count requests to the registry, and the reading of SBOMs comes when it comes.
  const own = { registryUrl: registry.url, registryNotificationSecret: secret, imageContents: "off" } as const;
  const settings = { ...own, ...further };
  const server = await startTestServer({ database, settings });
  const { groupUid, ownerToken, url } = server;

  const listening: Listening = {
    server,
    registry,
    async send(body, headers = {}) {
      const reply = await fetch(`${url}/registry/notifications`, {
        method: "POST",
        headers: {
          "content-type": "application/vnd.docker.distribution.events.v1+json",
          authorization: `Bearer ${secret}`,
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
    },
    distribution: (...events) => listening.send({ events }),
    push: (name, tag, digest) =>
      event("push", { mediaType: manifestType, repository: `${groupUid}/${name}`, digest, tag }),
    get: async (path) => (await rest(url, ownerToken, "GET", path)).body,
    async repoOf(name, group = groupUid) {
      const { repos } = await listening.get(`/registry/v2beta1/repos?name=${name}&uidp.children_of=${group}`);
      return repos[0]?.uid;
    },
    async tagsOf(name) {
      const all = "includeReferrers=true&includeDates=true&includeEpochs=true&orderBy=name";
      const uid = await listening.repoOf(name);
      const { tags } = await listening.get(`/registry/v2beta1/tags?uidp.children_of=${uid}&${all}`);
      return Object.fromEntries(tags.map((tag: { name: string; digest: string }) => [tag.name, tag.digest]));
    },
    async about(name, digest, what) {
      return await listening.get(`/registry/v2beta1/repos/${await listening.repoOf(name)}/digests/${digest}/${what}`);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
  return listening;
}

/** Returns an event as CNCF Distribution tells it. */
export function event(action: string, target: object): object {
  return { id: randomUUID(), timestamp: "2026-01-01T00:00:00Z", action, target, actor: { name: "someone" } };
}
