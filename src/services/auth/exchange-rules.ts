import {
  ExchangeRefreshTokenRequestSchema,
  ExchangeRequestSchema,
} from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import type { MessageRules } from "../../pipeline/text-rules.ts";
import { maxExchangeValues } from "../../sts/exchange-request.ts";

const bounds = Object.fromEntries(["aud", "scopes", "cap"].map((field) => [field, { maxItems: maxExchangeValues }]));

/** The bounds of token exchanges, which check their requests in their own words. */
export const exchangeRules: readonly MessageRules[] = [ExchangeRequestSchema, ExchangeRefreshTokenRequestSchema].map(
  (schema) => ({ schema, fields: {}, bounds }),
);
