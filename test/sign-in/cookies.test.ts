import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cookieLine, readCookie } from "../../src/sign-in/cookies.ts";

describe("cookies", () => {
  const cases: [header: string | undefined, value: string | undefined][] = [
    [undefined, undefined],
    ["", undefined],
    ["a=1", "1"],
    ["b=2; a=1", "1"],
    ["a=1=2", "1=2"],
    ["a=", ""],
    ["aa=1", undefined],
    ["a=1; a=2", undefined],
  ];
  for (const [header, value] of cases)
    it(`reads ${value} from ${header}`, () => {
      assert.equal(readCookie(header, "a"), value);
    });

  it("are sent over TLS only, and to no script, if so wanted", () => {
    const cookie = { name: "a", value: "1", path: "/", sameSite: "Strict", lifeMs: 61_999 } as const;
    assert.equal(
      cookieLine({ ...cookie, isSecure: true }),
      "a=1; Path=/; HttpOnly; SameSite=Strict; Max-Age=61; Secure",
    );
    assert.equal(cookieLine({ ...cookie, isSecure: false }), "a=1; Path=/; HttpOnly; SameSite=Strict; Max-Age=61");
  });
});
