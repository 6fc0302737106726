// The rules of fields, of which the server reports the violations in words.
import type { TextId } from "../texts/catalogues.ts";

/** The rules that many fields have, by the server's words. */
export const fieldRules: readonly (readonly [words: RegExp, text: TextId])[] = [
  [/^(?:\w+ )?is required$/, "rule.required"],
  [/^must not be empty$/, "rule.notEmpty"],
  [/^must not have an empty name$/, "rule.emptyName"],
  [/^must not have an empty item$/, "rule.emptyItem"],
  [/^must not be negative$/, "rule.notNegative"],
  [/^must be a uid$/, "rule.uid"],
  [/^(?:\w+ )?must match "\^\[0-9a-f\]\{40\}.*"$/, "rule.uid"],
  [/^(?:\w+ )?must match "\^\[a-z0-9 \._-\]\{1,\}\$"$/, "rule.name"],
  [/^(?:\w+ )?must match (.+)$/, "rule.match"],
  [/^must be at most (\d+) characters long$/, "rule.characters"],
  [/^must be at most (\d+) characters without NUL$/, "rule.text"],
  [/^must be at most (\d+) bytes long$/, "rule.bytes"],
  [/^must not have more than (\d+) items$/, "rule.items"],
  [/^must have at most (\d+) entries$/, "rule.entries"],
  [/^must be one of (.+)$/, "rule.oneOf"],
  [/^must be in the future$/, "rule.future"],
  [/^must be a bare e-mail address of at most 254 characters$/, "rule.email"],
  [/^must be at most 365 days after the creation$/, "rule.year"],
  [/^must not be given twice$/, "rule.twice"],
  [/^must not have control characters or marks that change the direction of text$/, "rule.marks"],
  [/^must be a valid RE2 pattern: (.+)$/, "rule.pattern"],
  [
    /^must be an https URL of at most (\d+) characters without credentials, fragment and port 0, and not on a private address$/,
    "rule.url",
  ],
];
