// The response of the servers without a database: one group, as large as a real one.
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { GroupSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";

const uid = "5f3c1a9e0b7d42688c1e5a3f7b9d0c2e4f6a8b0d/0123456789abcdef/fedcba9876543210";
const text = { uid, name: "amber 12ab34cd", description: "What amber 12ab34cd needs to do its work" };
const time = Date.UTC(2026, 0, 1);

/** The group as a message. */
export const helloGroup = create(GroupSchema, {
  ...text,
  createTime: timestampFromMs(time),
  updateTime: timestampFromMs(time),
});

/** The group as the body of a REST reply. */
export const helloJson = Buffer.from(
  JSON.stringify({
    ...text,
    createTime: "2026-01-01T00:00:00.000Z",
    updateTime: "2026-01-01T00:00:00.000Z",
    resourceLimits: {},
    verified: false,
    kind: "ORG_KIND_UNSPECIFIED",
    status: "ORG_STATUS_UNSPECIFIED",
  }),
);

/** Returns the group as the only message of a gRPC reply: a flag byte and four of length come first. */
export const helloFrame = ((): Buffer => {
  const bytes = toBinary(GroupSchema, helloGroup);
  const frame = Buffer.alloc(5 + bytes.length);
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, 5);
  return frame;
})();
