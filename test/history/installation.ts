// An organization with folders, and identities whose access the test grants and revokes.
import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import pino from "pino";
import { Code } from "../../src/aip/errors.ts";
import { systemClock } from "../../src/base/clock.ts";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { startServer } from "../../src/server/server.ts";
import { createOrganization } from "../../src/services/iam/bootstrap.ts";
import { openApiClient } from "../harness/api-clients.ts";
import { bringKeys } from "../harness/server-keys.ts";

/** How many groups contain the resources of the test. */
const folderCount = 3;

/** How many identities there are. One is used up with each binding whose result is unknown. */
const identityCount = 200;

/** An identity without access, and a token of it. */
export interface Person {
  readonly uid: string;
  readonly token: string;
}

/** The installation, as the clients of the test need it. */
export interface Installation {
  readonly ownerToken: string;
  readonly folders: readonly string[];
  readonly people: readonly Person[];
}

/** Creates the installation with a server in this process, which ends before the function returns. */
export async function createInstallation(settings: Readonly<Record<string, string>>): Promise<Installation> {
  const config = toConfig(readSettings(settings, {}));
  await using server = await startServer(config, pino({ level: "silent" }), systemClock, {
    admit: (database) => bringKeys(config, database, systemClock),
  });
  const issuer = "https://issuer.example.org";
  const context = { actor: "", method: "test", requestId: "", time: systemClock() };
  const { groupUid, ownerUid } = await server.database.write(context, (tx) =>
    createOrganization(tx, "example.org", { issuer, subject: "owner" }),
  );
  const tokenOf = async (subject: string) => {
    const act = { iss: issuer, sub: "test", aud: config.baseUrl };
    return (await server.tokens.issue({ subject, audience: [config.baseUrl], act, grants: {}, narrowing: {} })).token;
  };
  const ownerToken = await tokenOf(ownerUid);
  using client = openApiClient("grpc", server.url);
  const create = async (method: string, request: JsonObject) => {
    const { code, message, response } = await client.call(ownerToken, `/chainguard.platform.iam.v2beta1.${method}`, {
      parent: groupUid,
      ...request,
    });
    assert.equal(code, Code.OK, `${method}: ${message}`);
    return (response as { uid: string }).uid;
  };
  const folders = await Promise.all(
    Array.from({ length: folderCount }, (_, index) =>
      create("GroupsService/CreateGroup", { group: { name: `folder ${index}` } }),
    ),
  );
  const people = await Promise.all(
    Array.from({ length: identityCount }, async (_, index) => {
      const identity = { name: `person ${index}`, claimMatch: { issuer, subject: `person-${index}` } };
      const uid = await create("IdentitiesService/CreateIdentity", { identity });
      return { uid, token: await tokenOf(uid) };
    }),
  );
  return { ownerToken, folders, people };
}
