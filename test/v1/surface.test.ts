// Version 1 against today: who may call a method is the same, whichever version it is called in.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DescMethod } from "@bufbuild/protobuf";
import { accessRuleOf } from "../../src/authz/rules.ts";
import { isUnary } from "../../src/pipeline/compose.ts";
import { services } from "../../src/server/services.ts";
import { v1Services } from "../../src/v1/services.ts";

/** Methods that no single method of today stands for. */
const withoutCounterpart: readonly string[] = [
  // The v2beta1 LookupIdentity returns the uid of a pending user; this one does not.
  "Identities/Lookup",
  // A group and an invite at once.
  "GroupInvites/CreateWithGroup",
  // Today a tag is set by its name alone.
  "Registry/UpdateTag",
  // Not offered, and not there today.
  "Registry/GetPackageVersionMetadata",
  "Registry/CreateDeployment",
  "Registry/UpdateDeployment",
  "Registry/GetDeployment",
  // Gatehouse's own methods have pages, and the rest of what these return.
  ...["GetSbom", "GetRawSbom", "GetVulnReport", "GetImageConfig"].map((name) => `Registry/${name}`),
  ...["ListManifestMetadata", "GetManifestDigestCount"].map((name) => `Registry/${name}`),
  // Today they are only read.
  ...["Create", "Update", "Delete"].map((name) => `Advisories/${name}`),
  ...["CreateAdvisoryEvent", "UpdateAdvisoryEvent", "ListAdvisoryEvents"].map((name) => `Advisories/${name}`),
];

const served = v1Services(services({} as never, undefined as never), {} as never);

/** Returns the access rule without its scope, whose name differs between the versions. */
function demand(method: DescMethod) {
  const rule = accessRuleOf(method);
  return rule && { type: rule.type, capabilities: "capabilities" in rule ? rule.capabilities : [] };
}

describe("version 1", () => {
  for (const { service, counterparts } of served) {
    for (const method of service.methods) {
      const counterpart = counterparts.get(method.localName);
      if (!counterpart) continue;
      it(`${service.typeName}/${method.name} requires what ${counterpart.name} requires`, () => {
        assert.ok(isUnary(method));
        assert.deepEqual(demand(method), demand(counterpart));
      });
    }
  }

  it("fails at start if a counterpart is not served", () => {
    assert.throws(() => v1Services([], {} as never), /v2beta1\.\w+\/\w+ is not served/);
  });

  it("every method has a current counterpart, or is listed as having none", () => {
    const found = served.flatMap(({ service, counterparts }) =>
      service.methods.filter(({ localName }) => !counterparts.has(localName)).map((m) => `${service.name}/${m.name}`),
    );
    assert.deepEqual(found.sort(), [...withoutCounterpart].sort());
  });
});
