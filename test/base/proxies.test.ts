import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseBypass, parseProxy, proxyFor } from "../../src/base/proxies.ts";

describe("NO_PROXY", () => {
  const table: readonly (readonly [bypass: string, url: string, isDirect: boolean])[] = [
    ["", "https://issuer.example", false],
    ["*", "https://issuer.example", true],
    ["issuer.example", "https://issuer.example/a", true],
    ["issuer.example", "https://a.issuer.example", true],
    ["issuer.example", "https://notissuer.example", false],
    ["issuer.example", "https://issuer.example.evil.example", false],
    [".issuer.example", "https://a.issuer.example", true],
    ["*.issuer.example", "https://a.issuer.example", true],
    ["ISSUER.example", "https://issuer.example", true],
    ["issuer.example:8443", "https://issuer.example:8443", true],
    ["issuer.example:8443", "https://issuer.example", false],
    ["issuer.example:443", "https://issuer.example", true],
    ["a.example, issuer.example", "https://issuer.example", true],
    ["a.example issuer.example", "https://issuer.example", true],
    ["10.0.0.0/8", "https://10.1.2.3", true],
    ["10.0.0.0/8", "https://11.1.2.3", false],
    ["10.0.0.0/8", "https://issuer.example", false],
    ["10.1.2.3", "https://10.1.2.3:8443", true],
    ["2.3", "https://10.1.2.3", false],
    ["fd00::/8", "https://[fd00::1]", true],
    ["fd00::1", "https://[fd00::1]", true],
    ["[fd00::1]:8443", "https://[fd00::1]:8443", true],
    ["", "https://localhost:8080", true],
    ["", "http://127.0.0.1", true],
    ["", "https://[::1]", true],
    ["", "https://localhost.example", false],
  ];
  for (const [text, url, isDirect] of table) {
    it(`${JSON.stringify(text)} asks ${url} ${isDirect ? "directly" : "through the proxy"}`, () => {
      const [https, http] = [parseProxy("http://secure.test:1"), parseProxy("plain.test:2")];
      const proxy = proxyFor(new URL(url), { https, http, bypass: parseBypass(text) });
      assert.equal(proxy?.href, isDirect ? undefined : "http://secure.test:1/");
    });
  }

  it("leaves http URLs to the proxy for them", () => {
    const proxies = { https: undefined, http: parseProxy("plain.test:2"), bypass: parseBypass("") };
    assert.equal(proxyFor(new URL("http://registry.test"), proxies)?.href, "http://plain.test:2/");
    assert.equal(proxyFor(new URL("https://registry.test"), proxies), undefined);
  });
});

describe("the URL of a proxy", () => {
  for (const text of ["http://proxy.test:3128", "https://u:p@proxy.test", "proxy.test:3128", "http://proxy.test/"])
    it(`may be ${text}`, () => assert.ok(parseProxy(text)));
  for (const text of ["socks5://proxy.test", "http://proxy.test/path", "http://proxy.test?a", "http://", "a b"])
    it(`may not be ${text}`, () => assert.equal(parseProxy(text), undefined));
});
