// The versions whose methods are made on first use: every method can be made, and is found by its path.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Method } from "../../src/pipeline/method.ts";
import { bindingsOf } from "../../src/transport/rest/http-rule.ts";
import { newRoutes } from "../../src/transport/rest/routes.ts";
import { composeUncalled } from "../server/compose-uncalled.ts";

const api = composeUncalled();
const untouched = composeUncalled().methods;
const paths = (methods: Iterable<Method>) => [...methods].map(({ path }) => path);

describe("methods that are made on first use", () => {
  for (const { packages, routes, methods } of api.lazy) {
    describe(packages.join(", "), () => {
      it("there are methods that are made on first use", () => assert.notEqual(paths(methods().values()).length, 0));
      for (const method of methods().values()) {
        it(`${method.path} is found by its path`, () => assert.equal(untouched.get(method.path)?.path, method.path));
        for (const { httpMethod, template } of bindingsOf(method)) {
          it(`${httpMethod} ${template.text} begins as their routes do`, () => {
            const begins = routes.some((route) => template.text.startsWith(`${route}/`));
            assert.ok(begins, routes.join(", "));
          });
        }
      }
    });
  }

  it("v1 and v2 methods have other paths and routes than v2beta1", () => {
    const all = paths(api.methods.values());
    assert.equal(new Set(all).size, all.length);
    newRoutes([...api.methods.values()].flatMap(bindingsOf));
  });

  it("paths of other methods are not found", () => {
    const { get } = composeUncalled().methods;
    for (const path of ["", "/", "/chainguard.platform.iam.", "/chainguard.platform.iam.v2.", "/x", "/iam/v2/groups"])
      assert.equal(get(path), undefined, path);
    assert.equal(get("/chainguard.platform.iam.v2.GroupsService/Nothing"), undefined);
  });
});
