import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError, Code } from "../../../src/aip/errors.ts";
import { HttpError } from "../../../src/transport/http/http-error.ts";
import { type Binding, bindingsOf } from "../../../src/transport/rest/http-rule.ts";
import { newRoutes } from "../../../src/transport/rest/routes.ts";
import { methodWithRule } from "./exemplar.ts";
import { generatedMethods, methodOf } from "./methods.ts";

/** Bindings from lines such as `GET /a/{x=**}`; the variables are fields of the exemplar. */
function bindings(...lines: string[]): Binding[] {
  return lines.flatMap((line) => {
    const [httpMethod = "", path = ""] = line.split(" ");
    return bindingsOf(methodOf(methodWithRule({ pattern: { case: "custom", value: { kind: httpMethod, path } } })));
  });
}

const x = "the_string";
const y = "own_name";
const routes = newRoutes(
  bindings(
    "GET /groups",
    `GET /groups/{${x}=**}`,
    `POST /groups/{${x}=**}`,
    `PATCH /groups/{the_child.${x}=**}`,
    `DELETE /groups/{${x}=**}`,
    "GET /groups:lookupGroup",
    `POST /groups/{${x}=**}:requestGroupAccess`,
    `GET /repos/{${x}=**}`,
    `GET /repos/{${x}=**}/readme`,
    `GET /repos/{${x}=**}/digests/{${y}}/size`,
    `GET /repos/{${x}=**}/digests/{${y}=*}/architectures`,
    `POST /bindings/{${x}=**}`,
    `POST /bindings/batch/{${x}=**}`,
    `DELETE /identities/{${x}=**}`,
    "GET /identities/lookup",
    `GET /mixed/{${x}=a/*/b}/{${y}}`,
    `GET /mixed/{${x}=*}/c`,
    "GET /mixed/literal/c",
  ),
);

const root = "0123456789abcdef0123456789abcdef01234567";
const uid = `${root}/0123456789abcdef`;

describe("Routes.find", () => {
  const found: [rule: string, request: string, template: string, ...values: string[]][] = [
    ["a literal path beats ** that takes nothing", "GET /groups", "/groups"],
    ["** takes nothing where no literal path has the method", "POST /groups", `/groups/{${x}=**}`, ""],
    ["** takes nothing after a trailing slash", "POST /groups/", `/groups/{${x}=**}`, ""],
    ["** takes one segment", `GET /groups/${root}`, `/groups/{${x}=**}`, root],
    ["** takes several", `GET /groups/${uid}`, `/groups/{${x}=**}`, uid],
    ["%2F in a variable is a slash", `GET /groups/${uid.replace("/", "%2F")}`, `/groups/{${x}=**}`, uid],
    ["%2f in a variable is a slash", `GET /groups/${uid.replace("/", "%2f")}`, `/groups/{${x}=**}`, uid],
    ["escapes are decoded once", "GET /groups/a%252Fb", `/groups/{${x}=**}`, "a%2Fb"],
    ["a plus is a plus", "GET /groups/a+b", `/groups/{${x}=**}`, "a+b"],
    ["escapes in literals are decoded", "GET /%67roups", "/groups"],
    ["UTF-8 is decoded", "GET /groups/%C3%A4", `/groups/{${x}=**}`, "ä"],
    ["a variable may lead into a message", `PATCH /groups/${uid}`, `/groups/{the_child.${x}=**}`, uid],
    ["a verb may follow a literal", "GET /groups:lookupGroup", "/groups:lookupGroup"],
    [
      "a verb may follow a variable",
      `POST /groups/${uid}:requestGroupAccess`,
      `/groups/{${x}=**}:requestGroupAccess`,
      uid,
    ],
    [
      "a verb may follow ** that takes nothing",
      "POST /groups:requestGroupAccess",
      `/groups/{${x}=**}:requestGroupAccess`,
      "",
    ],
    ["an unknown verb is part of the value", `POST /groups/${root}:other`, `/groups/{${x}=**}`, `${root}:other`],
    [
      "an escaped colon does not begin a verb",
      `POST /groups/${root}%3ArequestGroupAccess`,
      `/groups/{${x}=**}`,
      `${root}:requestGroupAccess`,
    ],
    ["escapes in verbs are decoded", "GET /groups:%6CookupGroup", "/groups:lookupGroup"],
    [
      "only the last colon makes a verb",
      "POST /groups/a:b:requestGroupAccess",
      `/groups/{${x}=**}:requestGroupAccess`,
      "a:b",
    ],
    [
      "a colon elsewhere is part of the value",
      "GET /repos/a/digests/sha256:ff/size",
      `/repos/{${x}=**}/digests/{${y}}/size`,
      "a",
      "sha256:ff",
    ],
    ["a literal after ** beats **", `GET /repos/${uid}/readme`, `/repos/{${x}=**}/readme`, uid],
    ["%2F does not make a literal", "GET /repos/a%2Freadme", `/repos/{${x}=**}`, "a/readme"],
    ["the last literal counts", "GET /repos/a/readme/readme", `/repos/{${x}=**}/readme`, "a/readme"],
    ["a literal that is not a suffix is part of the value", "GET /repos/a/readme/b", `/repos/{${x}=**}`, "a/readme/b"],
    [
      "several segments may follow **",
      "GET /repos/a/b/digests/c/architectures",
      `/repos/{${x}=**}/digests/{${y}=*}/architectures`,
      "a/b",
      "c",
    ],
    ["half a suffix is part of the value", "GET /repos/a/digests/c", `/repos/{${x}=**}`, "a/digests/c"],
    ["a literal segment beats **", `POST /bindings/batch/${root}`, `/bindings/batch/{${x}=**}`, root],
    ["a literal segment beats ** that could take it", "POST /bindings/batch", `/bindings/batch/{${x}=**}`, ""],
    [
      "a literal without the method leaves the path to **",
      "DELETE /identities/lookup",
      `/identities/{${x}=**}`,
      "lookup",
    ],
    ["a variable may hold several segments", "GET /mixed/a/1/b/2", `/mixed/{${x}=a/*/b}/{${y}}`, "a/1/b", "2"],
    ["HEAD is GET (RFC 9110 §9.3.2)", `HEAD /groups/${uid}`, `/groups/{${x}=**}`, uid],
    ["a literal beats *", "GET /mixed/literal/c", "/mixed/literal/c"],
    ["* takes what the literal does not", "GET /mixed/other/c", `/mixed/{${x}=*}/c`, "other"],
  ];
  for (const [rule, request, template, ...values] of found) {
    it(`${rule}: ${request}`, () => {
      const [httpMethod = "", path = ""] = request.split(" ");
      const match = routes.find(httpMethod, path);
      assert.equal(match.binding.template.text, template);
      assert.deepEqual(match.values, values);
      assert.equal(routes.has(httpMethod, path), true);
    });
  }

  const refused: [rule: string, request: string, status: number, allow?: string][] = [
    ["an unknown path", "GET /nowhere", 404],
    ["the root", "GET /", 404],
    ["an empty target", "GET ", 404],
    ["the target of OPTIONS *", "OPTIONS *", 404],
    ["a path in another case", "GET /Groups", 404],
    ["a verb on an unknown path", "GET /groups:other", 404],
    ["* does not take nothing", "GET /mixed//c", 400],
    ["* does not take two segments", "GET /mixed/a/b/c", 404],
    ["a trailing slash after a value", `GET /groups/${uid}/`, 404],
    ["a trailing slash after a literal", "GET /mixed/literal/c/", 404],
    ["a trailing slash after a suffix", `GET /repos/${uid}/readme/`, 404],
    ["a known path under another method", `PUT /groups/${uid}`, 405, "DELETE, GET, HEAD, PATCH, POST"],
    ["a literal path under another method", "PUT /groups", 405, "DELETE, GET, HEAD, PATCH, POST"],
    ["a verb under another method", "DELETE /groups:lookupGroup", 405, "GET, HEAD"],
    ["HEAD where there is no GET", `HEAD /bindings/${uid}`, 405, "POST"],
    ["HEAD of an unknown path", "HEAD /nowhere", 404],
    ["methods are case-sensitive", "get /groups", 405, "DELETE, GET, HEAD, PATCH, POST"],
    ["H1: dot segments", "GET /groups/../groups", 400],
    ["H1: encoded dot segments", "GET /groups/%2e%2E", 400],
    ["H1: dot segments inside an escaped value", "GET /groups/..%2f..", 400],
    ["H1: a dot segment at the end of an escaped value", `GET /groups/${root}%2F.`, 400],
    ["H1: a dot segment before a verb", "POST /groups/..:requestGroupAccess", 400],
    ["H1: a doubled slash at the start", "GET //groups", 400],
    ["H1: a doubled slash in a value", `GET /groups/${root}//0123456789abcdef`, 400],
    ["H1: a doubled slash at the end", "POST /groups//", 400],
    ["H1: a malformed escape", "GET /groups/%zz", 400],
    ["H1: half an escape", "GET /groups/%2", 400],
    ["H1: an escape that is not UTF-8", "GET /groups/%ff", 400],
    ["H1: a malformed escape in a verb", "GET /groups:%zz", 400],
  ];
  for (const [rule, request, status, allow] of refused) {
    it(`rejects ${rule}: ${request}`, () => {
      const [httpMethod = "", path = ""] = request.split(" ");
      assert.throws(() => routes.find(httpMethod, path), refusal(status, allow));
      assert.equal(routes.has(httpMethod, path), false);
    });
  }
});

const refusals: Record<number, [code: Code, message: RegExp]> = {
  400: [Code.INVALID_ARGUMENT, /^Invalid argument: path: /],
  404: [Code.NOT_FOUND, /^Not Found(: the path must not end with a slash)?$/],
  405: [Code.UNIMPLEMENTED, /^Method Not Allowed$/],
};

function refusal(status: number, allow: string | undefined): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ApiError);
    const [code, message] = refusals[status]!;
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.equal(error instanceof HttpError ? error.status : 400, status);
    assert.equal(error instanceof HttpError ? error.headers.allow : undefined, allow);
    return true;
  };
}

describe("newRoutes", () => {
  it("makes lazy bindings once, and finds them among the others", () => {
    let made = 0;
    const later = () => {
      made++;
      return bindings("GET /a/v1/b", "GET /c/v1/{the_string}");
    };
    const found = newRoutes(bindings("GET /a/v2/b"), [{ prefixes: ["/a/v1", "/c/v1"], bindings: later }]);
    assert.ok(found.has("GET", "/a/v2/b"));
    assert.equal(made, 0);
    for (let i = 0; i < 2; i++) for (const path of ["/a/v1/b", "/c/v1/d"]) assert.ok(found.has("GET", path), path);
    assert.equal(found.has("GET", "/a/v1/c"), false);
    assert.equal(made, 1);
  });

  const conflicts: [first: string, second: string][] = [
    ["GET /a", "GET /a"],
    [`GET /a/{${x}}`, `GET /a/{${y}=*}`],
    [`GET /a/{${x}=**}`, "GET /a/**"],
    [`GET /a/{${x}=**}/b`, `GET /a/{${y}=**}/b`],
    [`GET /a/{${x}=**}:b`, `GET /a/{${y}=**}:b`],
  ];
  for (const [first, second] of conflicts) {
    it(`rejects ${second} together with ${first}, and names both`, () => {
      assert.throws(
        () => newRoutes(bindings(first, second)),
        (error: Error) => error.message.includes(first) && error.message.includes(second),
      );
    });
  }

  it("accepts one path under two methods, with and without a verb", () => {
    newRoutes(bindings(`GET /a/{${x}=**}`, `POST /a/{${x}=**}`, `GET /a/{${x}=**}:b`, "GET /a"));
  });
});

describe("bindingsOf", () => {
  const refused: [rule: string, init: Parameters<typeof methodWithRule>[0], problem: RegExp][] = [
    ["a rule without pattern", {}, /no pattern/],
    ["a malformed template", { pattern: { case: "get", value: "a" } }, /column 1/],
    ["a variable that is not a field", { pattern: { case: "get", value: "/{nope}" } }, /no singular scalar nope/],
    [
      "a variable that is a list",
      { pattern: { case: "get", value: "/{many_string}" } },
      /no singular scalar many_string/,
    ],
    [
      "a variable that is a message",
      { pattern: { case: "get", value: "/{the_child}" } },
      /no singular scalar the_child/,
    ],
    ["a body that is not a field", { pattern: { case: "post", value: "/a" }, body: "nope" }, /field nope for the body/],
    [
      "a body that is a scalar",
      { pattern: { case: "post", value: "/a" }, body: "the_string" },
      /field the_string for the body/,
    ],
    ["a response body", { pattern: { case: "get", value: "/a" }, responseBody: "the_child" }, /response_body/],
    [
      "a custom method for all",
      { pattern: { case: "custom", value: { kind: "*", path: "/a" } } },
      /custom method "\*"/,
    ],
  ];
  for (const [rule, init, problem] of refused) {
    it(`rejects ${rule}, naming the method`, () => {
      const error = /^Error: \/exemplar\.Service\/Do: /;
      assert.throws(
        () => bindingsOf(methodOf(methodWithRule(init))),
        (thrown) => error.test(String(thrown)) && problem.test(String(thrown)),
      );
    });
  }

  it("has nothing for a method without a rule", () => {
    assert.deepEqual(bindingsOf(methodOf(methodWithRule(undefined))), []);
  });

  it("has the additional bindings too", () => {
    const rule = {
      pattern: { case: "post", value: "/a" },
      additionalBindings: [{ pattern: { case: "get", value: "/b" } }],
    } as const;
    const all = bindingsOf(methodOf(methodWithRule({ ...rule, additionalBindings: [...rule.additionalBindings] })));
    assert.deepEqual(
      all.map((each) => `${each.httpMethod} ${each.template.text}`),
      ["POST /a", "GET /b"],
    );
  });
});

describe("the routes of all services", async () => {
  const all = (await generatedMethods()).flatMap(bindingsOf);
  const generated = newRoutes(all);

  it("every method of all services has its routes", () => {
    assert.ok(all.some(({ method }) => method.path === "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups"));
  });

  for (const binding of all) {
    const { template, httpMethod } = binding;
    const verb = template.verb === "" ? "" : `:${template.verb}`;
    const fill = (rest: string) =>
      `/${template.segments.map((s) => (s === "**" ? rest : s === "*" ? "one" : s)).join("/")}${verb}`;
    for (const rest of [root, uid, uid.replace("/", "%2F")]) {
      it(`${httpMethod} ${template.text} is found by ${rest.length} characters of uid`, () => {
        const match = generated.find(httpMethod, fill(rest));
        assert.equal(match.binding, binding);
        const values = template.variables.map(({ start, end }) => template.segments.slice(start, end).join("/"));
        assert.deepEqual(
          match.values,
          values.map((value) => value.replace("**", decodeURIComponent(rest)).replace(/\*/g, "one")),
        );
      });
    }
  }

  it("H2: a uid that holds literals of other routes resolves by the templates alone", () => {
    const find = (httpMethod: string, path: string) => generated.find(httpMethod, path).binding.method.descriptor.name;
    assert.equal(find("GET", "/iam/v2beta1/groups"), "ListGroups");
    assert.equal(find("POST", "/iam/v2beta1/groups"), "CreateGroup");
    assert.equal(find("GET", "/iam/v2beta1/groups:lookupGroup"), "LookupGroup");
    assert.equal(find("GET", `/iam/v2beta1/groups/${root}:lookupGroup`), "GetGroup");
    assert.equal(find("GET", "/iam/v2beta1/groups/groups:lookupGroup"), "GetGroup");
    assert.equal(find("POST", `/iam/v2beta1/groups/${root}:requestGroupAccess`), "RequestGroupAccess");
    assert.equal(find("PATCH", `/iam/v2beta1/groups/${root}:requestGroupAccess`), "UpdateGroup");
    assert.equal(find("GET", `/iam/v2beta1/groups/${root}/readme`), "GetGroup");
    assert.equal(find("GET", `/iam/v2beta1/groups/${root}/digests/x/size`), "GetGroup");
  });
});
