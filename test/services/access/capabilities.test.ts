// The descriptions of capabilities: complete, true of this server's methods, and the same in the console.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { texts } from "../../../console/src/texts/en/capabilities.ts";
import { accessRuleOf } from "../../../src/authz/rules.ts";
import { allCapabilities, findCapability } from "../../../src/model/capabilities.ts";
import { capabilityDescriptions } from "../../../src/services/access/capabilities/descriptions.ts";
import { apiMethods } from "../../surface/routes.ts";

/** Capabilities that code requires and no access rule names: those of the registry protocol. */
const requiredInCode = ["manifest.delete", "repo.blobs.get", "manifest.list", "tag.create", "tag.update"];

const enforced = () => capabilityDescriptions().filter((one) => one.enforced);

describe("descriptions of capabilities", () => {
  it("each capability has a description", () => {
    const described = capabilityDescriptions().map(({ name }) => name);
    assert.deepEqual(
      described,
      allCapabilities()
        .map(({ name }) => name)
        .sort(),
      "describe each in src/services/access/capabilities/, and in console/src/texts/",
    );
  });

  it("says of each whether this server requires it", async () => {
    const numbers = (await apiMethods()).flatMap(({ descriptor }) => {
      const rule = accessRuleOf(descriptor);
      return rule === undefined || rule.type === "open" ? [] : rule.capabilities;
    });
    const required = new Set([...numbers.map((number) => findCapability(number)!.name), ...requiredInCode]);
    assert.deepEqual(
      enforced().map(({ name }) => name),
      [...required].sort(),
    );
  });

  it("the console has the same words for those that the server requires", () => {
    const own = new Map<string, string>(Object.entries(texts));
    for (const { name, description } of enforced()) assert.equal(own.get(`capability.${name}`), description, name);
  });
});
