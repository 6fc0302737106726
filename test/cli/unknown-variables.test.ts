import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { unknownVariables } from "../../src/cli/unknown-variables.ts";
import { settings, variableOf } from "../../src/config/settings.ts";
import { run } from "./process.ts";

const told: readonly (readonly [variable: string, meant: string])[] = [
  ["GATEHOUSE_BASEURL", "GATEHOUSE_BASE_URL"],
  ["GATEHOUSE_LOGIN_CLIENTSECRET", "GATEHOUSE_LOGIN_CLIENT_SECRET"],
  ["GATEHOUSE_LISTN", "GATEHOUSE_LISTEN"],
  ["GATEHOUSE_DATABASE", "GATEHOUSE_DATABASE_URL"],
  ["GATEHOUSE_TLS_CERTS", "GATEHOUSE_TLS_CERT"],
  ["GATEHOUSE_LISTEN_ADDRESS", "GATEHOUSE_LISTEN"],
  ["gatehouse_metrics", "GATEHOUSE_METRICS"],
];

describe("variables that are not settings", () => {
  for (const [variable, meant] of told) {
    it(`${variable} is told of, with ${meant}`, () => {
      const sentence = `the variable ${variable} is not a setting and has no effect; did you mean ${meant}?`;
      assert.deepEqual(unknownVariables({ [variable]: "canary" }), [sentence]);
    });
  }

  it("an unknown variable without a similar setting is reported without a suggestion", () => {
    const sentence = "the variable GATEHOUSE_COLOURS_OF_THE_GATE is not a setting and has no effect";
    assert.deepEqual(unknownVariables({ GATEHOUSE_COLOURS_OF_THE_GATE: "red" }), [sentence]);
  });

  // Switches that make a server less safe, misspelt and with words before and behind.
  const never = ["DEV", "ACCEPT_ISSUER_CHANGE"].flatMap((name) => [
    `${name}X`,
    name.slice(1),
    `${name}_MODE`,
    `X_${name}`,
  ]);
  for (const name of [...never, "DE", "ENV", "DEBUG", "VERSION", "dev", "Dev", "accept_issuer_change"]) {
    it(`GATEHOUSE_${name} leads nobody to a setting that makes a server less safe`, () => {
      const [sentence] = unknownVariables({ [`GATEHOUSE_${name}`]: "1" });
      assert.match(sentence ?? "", /^the variable GATEHOUSE_\w+ is not a setting and has no effect/);
      assert.doesNotMatch(sentence ?? "", /mean GATEHOUSE_(DEV|ACCEPT)/);
    });
  }

  it("a misspelt flag suggests no setting that makes a server less safe", async () => {
    for (const [flag, hint] of [
      ["--dve", ""],
      ["--deb", ""],
      ["--accept-issuer-chang", ""],
      ["--listn", "(Did you mean --listen?)\n"],
    ]) {
      const { code, stderr } = await run(["serve", flag!]);
      assert.deepEqual([code, stderr], [2, `error: unknown option '${flag}'\n${hint}`]);
    }
  });

  it("control characters in the name of a variable are escaped", () => {
    const [sentence] = unknownVariables({ "GATEHOUSE_\u001b[31mX\u0007": "" });
    assert.ok(["\u001b", "\u0007"].every((char) => !sentence?.includes(char)));
  });

  it("settings, what clients read, what Kubernetes sets, and what is of others are not told of", () => {
    const known = settings.map(({ name }) => variableOf(name));
    const clients = ["CONFIG", "URL", "TOKEN", "AUDIENCE", "REGISTRY_PASSWORD"].map((name) => `GATEHOUSE_${name}`);
    const ofKubernetes = [
      "GATEHOUSE_SERVICE_HOST",
      "GATEHOUSE_SERVICE_PORT",
      "GATEHOUSE_SERVICE_PORT_HTTP",
      "GATEHOUSE_PORT",
      "GATEHOUSE_PORT_8080_TCP",
      "GATEHOUSE_PORT_8080_TCP_PROTO",
      "GATEHOUSE_PORT_8080_TCP_ADDR",
      "GATEHOUSE_DB_SERVICE_HOST",
      "GATEHOUSE_DB_PORT_5432_TCP_PORT",
    ];
    const names = [...known, ...clients, ...ofKubernetes, "PATH", "MY_GATEHOUSE_X"];
    assert.deepEqual(unknownVariables(Object.fromEntries(names.map((name) => [name, "x"]))), []);
  });

  for (const command of [["serve"], ["keys", "list"]]) {
    it(`${command.join(" ")} says so before it misses the setting`, async () => {
      const { code, stderr } = await run(command, { GATEHOUSE_LISTN: "canary", GATEHOUSE_METRICS: "everybody" });
      assert.equal(code, 2);
      assert.match(
        stderr,
        /^gatehouse: the variable GATEHOUSE_LISTN [^\n]+; did you mean GATEHOUSE_LISTEN\?\ngatehouse: /,
      );
      assert.doesNotMatch(stderr, /canary/);
    });
  }
});
