import {
  ExchangeRefreshTokenRequestSchema,
  ExchangeRequestSchema,
} from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import type { MessageRules } from "../../pipeline/text-rules.ts";
import { maxExchangeValues } from "../../sts/exchange-request.ts";

const bounds = Object.fromEntries(["aud", "scopes", "cap"].map((field) => [field, { maxItems: maxExchangeValues }]));

/** The list limits of token exchanges. All other checks are in `src/sts`. */
export const exchangeRules: readonly MessageRules[] = [ExchangeRequestSchema, ExchangeRefreshTokenRequestSchema].map(
  (schema) => ({ schema, fields: {}, bounds }),
);
