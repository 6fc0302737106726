// Measures connect-node alone: serves GetGroup and a list of 50 over gRPC with constant responses. The port is the only argument.
import { createServer } from "node:http2";
import { create } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { GroupsService, ListGroupsResponseSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { helloGroup } from "./hello.ts";

const list = create(ListGroupsResponseSchema, {
  groups: Array.from({ length: 50 }, () => helloGroup),
  nextPageToken: "0".repeat(200),
  totalCount: 1_000_000n,
});
const handler = connectNodeAdapter({
  routes(router) {
    router.rpc(GroupsService.method.getGroup, () => helloGroup);
    router.rpc(GroupsService.method.listGroups, () => list);
  },
});
createServer(handler).listen(Number(process.argv[2]), "127.0.0.1");
