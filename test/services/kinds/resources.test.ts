// The lists of kinds are complete, and nothing that works with all kinds names one.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ResourceSpecSchema } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { OrganizationResourceSchema } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { resources, transfers } from "../../../src/services/resources.ts";
import { codeOf, files } from "../../architecture/sources.ts";

describe("the list of kinds", () => {
  it("has each member of ResourceSpec once", () => {
    const members = ResourceSpecSchema.fields.map(({ localName }) => localName);
    assert.deepEqual(resources.map(({ name }) => name).toSorted(), members.toSorted());
  });

  it("has each member of OrganizationResource once among those that move with an organization", () => {
    const members = OrganizationResourceSchema.fields.map(({ localName }) => localName);
    assert.deepEqual(transfers.map(({ name }) => name).toSorted(), members.toSorted());
  });

  for (const [i, { name, file }] of resources.entries())
    it(`has ${name} behind the kinds that its resources refer to`, () => {
      const before = resources.slice(0, i).map((kind) => kind.name);
      assert.deepEqual(
        file.references.filter((reference) => !before.includes(reference)),
        [],
      );
    });
});

describe("code that works with all kinds", () => {
  // Groups and organizations are the tree itself.
  const names = [...resources, ...transfers]
    .map(({ name }) => name)
    .filter((name) => !/^(group|organization)$/.test(name));
  const naming = new RegExp(`"(${[...new Set(names)].join("|")})"`);

  it("names none of them in services/apply and services/transfer", () => {
    const generic = files.filter((file) => /^services\/(apply|transfer)\//.test(file));
    assert.ok(generic.length > 10);
    assert.deepEqual(
      generic.filter((file) => naming.test(codeOf.get(file)!)),
      [],
    );
  });
});
