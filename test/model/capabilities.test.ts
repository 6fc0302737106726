import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { getOption, hasOption } from "@bufbuild/protobuf";
import fc from "fast-check";
import { bit, CapabilitySchema, internal_only, name } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { builtInRoles, isBuiltInRole, ownerRole } from "../../src/authz/built-in-roles.ts";
import {
  allCapabilities,
  capabilityNames,
  capabilitySet,
  formatCapabilitySet,
  hasCapability,
  missingCapabilities,
  parseCapabilitySet,
} from "../../src/model/capabilities.ts";
import { isUid } from "../../src/model/uid.ts";

const numbers = allCapabilities().map((info) => info.number);

describe("capabilities", () => {
  it("no name, number or bit is used twice", () => {
    for (const key of ["name", "number", "bit"] as const) {
      assert.equal(new Set(allCapabilities().map((info) => info[key])).size, numbers.length, key);
    }
  });

  it("are what the options of the enum say", () => {
    const expected = CapabilitySchema.values
      .filter((value) => hasOption(value, bit))
      .map((value) => ({
        number: value.number,
        bit: getOption(value, bit),
        name: getOption(value, name),
        internal: getOption(value, internal_only),
      }));
    assert.ok(expected.some(({ internal }) => internal));
    assert.deepEqual(allCapabilities(), expected);
  });

  it("a set holds exactly what was put in, also after a way through text", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...numbers)), (chosen) => {
        const set = parseCapabilitySet(formatCapabilitySet(capabilitySet(chosen)));
        assert.ok(set);
        assert.deepEqual(
          numbers.filter((number) => hasCapability(set, number)),
          numbers.filter((number) => chosen.includes(number)),
        );
        assert.equal(capabilityNames(set).length, chosen.length);
      }),
    );
  });

  it("the text of a set is that of the published tokens", () => {
    const pull = builtInRoles.find(({ name }) => name === "registry.pull");
    assert.equal(formatCapabilitySet(capabilitySet(pull?.capabilities ?? [])), "AAAAAAAAAH1EAgAAAAAACBAACAAAAAFk");
    assert.equal(formatCapabilitySet(capabilitySet([])), "AAAAAAAAADIAAAAAAAAAAA==");
  });

  it("unknown numbers and UNKNOWN are never held", () => {
    const set = capabilitySet([0, 999_999, ...numbers]);
    assert.equal(hasCapability(set, 0), false);
    assert.equal(hasCapability(set, 999_999), false);
  });

  it("texts that are not a set are rejected", () => {
    for (const text of ["", "AAAA", "AAAAAAAAADI"])
      assert.equal(parseCapabilitySet(text)?.every((word) => word === 0) ?? true, true, text);
  });
});

describe("built-in roles", () => {
  it("are the 24 of the platform and the operator, each under its own uid and name", () => {
    assert.equal(builtInRoles.length, 25);
    assert.equal(new Set(builtInRoles.map(({ uid }) => uid)).size, 25);
    assert.equal(new Set(builtInRoles.map(({ name }) => name)).size, 25);
    assert.ok(builtInRoles.every(({ uid }) => isUid(uid) && uid.length === 40 && isBuiltInRole(uid)));
  });

  it("viewer has its published uid and description", () => {
    const viewer = builtInRoles.find(({ name }) => name === "viewer");
    assert.deepEqual(
      [viewer?.uid, viewer?.description],
      ["63921b2c44617e3f2603851537be0123af4a57d7", "Viewer Role (built-in)"],
    );
  });

  it("an owner holds what every role for customers holds, and nothing internal", () => {
    const held = capabilitySet(ownerRole.capabilities);
    const internal = allCapabilities().filter((info) => info.internal);
    assert.ok(internal.every(({ number }) => !hasCapability(held, number)));
    for (const name of [
      "editor",
      "viewer",
      "console_viewer",
      "limited_owner",
      "registry.pull",
      "registry.push",
      "registry.pull_token_creator",
    ]) {
      const role = builtInRoles.find((candidate) => candidate.name === name);
      assert.deepEqual(missingCapabilities(held, capabilitySet(role?.capabilities ?? [0])), [], name);
    }
  });
});
