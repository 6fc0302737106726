// The lists of kinds are complete, and nothing that works with all kinds names one.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DescMethod } from "@bufbuild/protobuf";
import { getTableName } from "drizzle-orm";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { ApplyService, ResourceSpecSchema } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { OrganizationResourceSchema } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { accessRuleOf } from "../../../src/authz/rules.ts";
import { leftOut } from "../../../src/cli/organizations/format.ts";
import { exportedKinds } from "../../../src/cli/organizations/interim-changes.ts";
import { findCapability } from "../../../src/model/capabilities.ts";
import { deletedWithGroup, kinds, resources } from "../../../src/services/resources.ts";
import { allTransfers } from "../../../src/services/transfer/organization-import.ts";
import { sqliteTables } from "../../../src/storage/schema/tables.sqlite.ts";
import type { Tables } from "../../../src/storage/schema/tables.ts";
import { codeOf, files, imports } from "../../architecture/sources.ts";

/** Returns the capabilities that a method's annotation demands. */
function capabilitiesOf(method: DescMethod): readonly Capability[] {
  const rule = accessRuleOf(method);
  return rule === undefined || rule.type === "open" ? [] : (rule.capabilities as readonly Capability[]);
}

describe("the list of kinds", () => {
  it("has each member of ResourceSpec once", () => {
    const members = ResourceSpecSchema.fields.map(({ localName }) => localName);
    assert.deepEqual(resources.map(({ name }) => name).toSorted(), members.toSorted());
  });

  it("has each member of OrganizationResource once among those that move with an organization", () => {
    const members = OrganizationResourceSchema.fields.map(({ localName }) => localName);
    assert.deepEqual(allTransfers.map(({ name }) => name).toSorted(), members.toSorted());
  });

  it("has a kind for each table of entries", () => {
    const tables = sqliteTables as unknown as Tables;
    const declared = kinds.map(({ collection }) => getTableName(collection.entries(tables)));
    const all = Object.values(sqliteTables).map(getTableName);
    assert.deepEqual([...new Set(declared)].toSorted(), all.filter((name) => name.endsWith("_entries")).toSorted());
  });

  it("says that an export leaves out what does not move, with the reason of the kind", () => {
    const shared = new Set(allTransfers.map(({ name }) => name as string).concat("organization"));
    for (const { name, transfer } of kinds.filter((kind) => !shared.has(kind.name))) {
      assert.ok("absent" in transfer, name);
      assert.ok(leftOut.includes(transfer.absent), `${name}: ${transfer.absent}`);
    }
  });

  it("an export notices changes of every kind that it has", () => {
    const moving = kinds.flatMap(({ transfer, collection }) => ("absent" in transfer ? [] : collection.kind));
    assert.deepEqual(
      moving.filter((kind) => !exportedKinds.has(kind)),
      [],
    );
    for (const kind of ["repo_readmes", "subscription_settings"]) assert.ok(exportedKinds.has(kind), kind);
  });

  it("gives the reason for which no file has a kind in a sentence", () => {
    for (const { name, file } of kinds) if ("absent" in file) assert.match(file.absent, /^[A-Z].*\s.*\s.*\.$/, name);
  });

  it("the export and the deletion of a group demand the capability to list each of their kinds", () => {
    const listed = resources.map(({ listCapability }) => listCapability);
    const deletedFirst = deletedWithGroup.map(({ listCapability }) => listCapability);
    const { exportResources, destroySubtree } = ApplyService.method;
    for (const [method, wanted] of [
      [exportResources, listed],
      [destroySubtree, [Capability.CAP_IAM_GROUPS_DELETE, ...deletedFirst, ...listed]],
    ] as const)
      assert.deepEqual(
        capabilitiesOf(method)
          .map((number) => findCapability(number)!.name)
          .toSorted(),
        [...new Set(wanted)].map((number) => findCapability(number)!.name).toSorted(),
        `the annotation of ${method.name} in apply.proto`,
      );
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
  const names = [...resources, ...allTransfers]
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

  it("imports none of them, except who the caller is and how long they may give access", () => {
    const callers =
      /^services\/iam\/(users\/membership|delegations\/active-delegations|provisioning\/suspended-people|rules\/escalation)\.ts$/;
    const found = imports.filter(
      ({ from, target }) =>
        /^services\/(apply|transfer)\//.test(from) && /^services\/(iam|registry|events|vulnerabilities)\//.test(target),
    );
    assert.deepEqual(
      found.map(({ target }) => target).filter((target) => !callers.test(target)),
      [],
    );
  });
});
