// The filter of advisories in version 1: what is wrong with it is said in its own names.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { AdvisoryFilterSchema } from "../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import { codeName } from "../../src/aip/errors.ts";
import { type ApiClient, openApiClient } from "../harness/api-clients.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

/** More items than any field may have. */
const tooMany = 1001;

describe("the filter of advisories in version 1", () => {
  let server: TestServer;
  let grpc: ApiClient;
  before(async () => {
    server = await startTestServer();
    grpc = openApiClient("grpc", server.url);
  });
  after(async () => {
    grpc[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  for (const field of AdvisoryFilterSchema.fields) {
    if (field.fieldKind !== "list") continue;
    it(`names ${field.name} if it has too many items`, async () => {
      const filter: JsonObject = { [field.jsonName]: Array(tooMany).fill(field.listKind === "enum" ? 1 : "a") };
      const method = "/chainguard.platform.vulnerabilities.v1.Advisories/List";
      const { code, message } = await grpc.call(server.ownerToken, method, filter);
      assert.equal(codeName(code), "INVALID_ARGUMENT");
      assert.equal(message, `Invalid argument: ${field.name}: must not have more than 1000 items`);
    });
  }
});
