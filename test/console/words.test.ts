// The words by which pickers and the palette find capabilities, roles and actions.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findByWords, wordsIn } from "../../console/src/api/words.ts";
import { texts as germanCapabilities } from "../../console/src/texts/de/capabilities.ts";
import { texts as germanFrame } from "../../console/src/texts/de/frame.ts";
import { texts as capabilities } from "../../console/src/texts/en/capabilities.ts";
import { texts as frame } from "../../console/src/texts/en/frame.ts";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";

const prefix = "capability.";
const used = Object.entries(capabilities).flatMap(([id, description]) =>
  id.startsWith(prefix) && id.includes(".", prefix.length) ? [{ name: id.slice(prefix.length), description }] : [],
);
const german = used.map(({ name }) => ({
  name,
  description: germanCapabilities[`${prefix}${name}` as keyof typeof germanCapabilities],
}));

const namesOf = (typed: string, all: readonly { readonly name: string; readonly description: string }[]) =>
  findByWords(typed, all, (one) => one).map(({ name }) => name);

describe("words and their synonyms", () => {
  for (const [typed, ...expected] of [
    ["push", "tag.create", "manifest.create", "manifest.update"],
    ["upload", "tag.create", "manifest.create"],
    ["hochladen", "tag.create", "manifest.create"],
    ["pull", "repo.blobs.get", "manifest.list"],
    ["download", "repo.blobs.get"],
    ["herunterladen", "repo.blobs.get"],
    ["invite", "group_invites.create"],
    ["einladen", "group_invites.create"],
    ["kick out", "role_bindings.delete"],
    ["rauswerfen", "role_bindings.delete"],
    ["delete repo", "repo.delete"],
    ["löschen", "tag.delete", "groups.delete"],
    ["audit", "subscriptions.create"],
    ["protokoll", "subscriptions.create"],
    ["webhook", "subscriptions.create"],
    ["vulnerab", "advisories.list"],
    ["blobs.get", "repo.blobs.get"],
    ["sso", "identity_providers.create"],
  ] as const)
    for (const [language, all] of [
      ["English", used],
      ["German", german],
    ] as const)
      it(`"${typed}" finds ${expected.join(" and ")} in ${language}`, () => {
        const found = namesOf(typed, all);
        for (const name of expected) assert.ok(found.includes(name), found.join(" "));
        assert.ok(found.length < used.length / 2, `it finds ${found.length} of ${used.length}`);
      });

  for (const [typed, name] of [
    ["push", "registry.push"],
    ["upload", "registry.push"],
    ["herunterladen", "registry.pull"],
    ["admin", "owner"],
    ["read-only", "viewer"],
    ["besitzer", "owner"],
  ] as const)
    it(`"${typed}" finds the role ${name}`, () => {
      assert.ok(namesOf(typed, builtInRoles).includes(name));
    });

  for (const [typed, id] of [
    ["off-board", "palette.removeMember"],
    ["offboard", "palette.removeMember"],
    ["kick ou", "palette.removeMember"],
    ["rauswerf", "palette.removeMember"],
    ["delete", "palette.removeMember"],
    ["give acc", "palette.grant"],
    ["berechtigung", "palette.grant"],
    ["onboard", "palette.newInvite"],
    ["einladen", "palette.newInvite"],
    ["team", "palette.newGroup"],
    ["create role", "palette.newRole"],
    ["bot", "palette.newIdentity"],
    ["webhook", "palette.newSubscription"],
    ["dark mode", "palette.scheme"],
    ["logout", "palette.signOut"],
    ["curl", "palette.copyAs"],
  ] as const)
    it(`"${typed}" means the action ${id} in English and German`, () => {
      assert.ok(wordsIn(typed).isMeantBy(frame[id]), frame[id]);
      assert.ok(wordsIn(typed).isMeantBy(germanFrame[id]), germanFrame[id]);
    });

  it("a word in the name comes before one in the description, and both before synonyms", () => {
    const all = [
      { name: "a", description: "Push images" },
      { name: "b", description: "Upload files" },
      { name: "upload", description: "" },
      { name: "c", description: "Pull images" },
    ];
    assert.deepEqual(namesOf("upload", all), ["upload", "b", "a"]);
  });

  it("finds nothing within a word, and no synonym of two letters", () => {
    assert.equal(wordsIn("load").isMeantBy("upload"), false);
    assert.equal(wordsIn("up").isMeantBy("push"), false);
    assert.equal(wordsIn("pus").isMeantBy("upload"), true);
    assert.equal(wordsIn("zzz").isMeantBy("push"), false);
  });
});
