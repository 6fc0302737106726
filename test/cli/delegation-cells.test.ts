// The table of delegations whose maker lacks many capabilities.
import assert from "node:assert/strict";
import { it } from "node:test";
import { cellText } from "../../src/cli/output/view.ts";
import { delegationView } from "../../src/cli/resources/delegation-commands.ts";

it("a table of delegations names three missing capabilities and counts the rest; wide formats have all", () => {
  const capabilities = Array.from({ length: 140 }, (_, i) => `kind${i}.list`);
  const row = { inactivity: "INACTIVITY_REASON_MAKER_LACKS_CAPABILITIES", capabilities };
  const texts = (isWide: boolean) =>
    delegationView.columns.filter(({ wide = false }) => wide === isWide).map(({ value }) => cellText(row, value));
  assert.ok(
    texts(false).includes("maker lacks capabilities: kind0.list, kind1.list, kind2.list and 137 more"),
    texts(false).join("|"),
  );
  assert.ok(texts(true).includes(capabilities.join(",")));
});
