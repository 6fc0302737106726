import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isPublicAddress } from "../../src/base/address-ranges.ts";

describe("addresses", () => {
  const table: readonly (readonly [rule: string, isPublic: boolean, addresses: readonly string[]])[] = [
    [
      "of the public internet are public",
      true,
      ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"],
    ],
    ["of this machine are not public", false, ["127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::"]],
    ["of private networks are not public", false, ["10.0.0.1", "172.16.0.1", "192.168.1.1", "fd00::1"]],
    ["of links and carriers are not public", false, ["169.254.169.254", "100.64.0.1", "fe80::1", "fe80::1%eth0"]],
    // A list would pass over the zone, and take the rest for an address of the internet.
    ["with a zone are not public", false, ["2606:4700::1111%eth0"]],
    ["of groups are not public", false, ["224.0.0.1", "255.255.255.255", "ff02::1"]],
    ["that carry an IPv4 address are not public", false, ["::ffff:8.8.8.8", "::ffff:7f00:1", "64:ff9b::808:808"]],
    ["that tunnel are not public", false, ["2002:7f00:1::", "2001::1", "192.88.99.1"]],
    ["for documentation are not public", false, ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"]],
  ];
  for (const [rule, isPublic, addresses] of table) {
    for (const address of addresses) {
      it(`addresses ${rule}: ${address}`, () => {
        assert.equal(isPublicAddress({ address, family: address.includes(":") ? 6 : 4 }), isPublic);
      });
    }
  }
});
