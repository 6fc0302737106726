import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nextPage } from "../../src/base/link-header.ts";

describe("the next page of a list in a registry", () => {
  const at = new URL("https://registry.test/v2/app/tags/list?n=2");
  const table: readonly (readonly [name: string, link: string | null, path: string | undefined])[] = [
    ["is absent without a link", null, undefined],
    ["is absent for another relation", '</v2/x>; rel="prev"', undefined],
    ["is a path", '</v2/app/tags/list?n=2&last=b>; rel="next"', "/v2/app/tags/list?n=2&last=b"],
    ["is relative to the page", "<list?last=b>; rel=next", "/v2/app/tags/list?last=b"],
    ["is an address of the same registry", '<https://registry.test/v2/y>; rel="next"', "/v2/y"],
    ["is one of several links", '</v2/x>; rel="prev", </v2/y>; rel="next"', "/v2/y"],
  ];
  for (const [name, link, path] of table)
    it(name, () => assert.equal(nextPage(link, at)?.toString(), path && `https://registry.test${path}`));

  for (const link of [
    "<//elsewhere.test/v2/x>; rel=next",
    "<http://registry.test/v2/x>; rel=next",
    "<http://>; rel=next",
  ])
    it(`is elsewhere for ${link}`, () => assert.equal(nextPage(link, at), "elsewhere"));
});
