import { createRegistry } from "@bufbuild/protobuf";
import * as details from "../../gen/google/rpc/error_details_pb.ts";

/** The message types of error details. */
export const detailTypes = createRegistry(
  details.ErrorInfoSchema,
  details.BadRequestSchema,
  details.PreconditionFailureSchema,
  details.ResourceInfoSchema,
  details.RetryInfoSchema,
  details.QuotaFailureSchema,
  details.RequestInfoSchema,
  details.HelpSchema,
  details.LocalizedMessageSchema,
);
