// What connect-node costs by itself: GetGroup over gRPC with a constant answer. The port is the only argument.
import { createServer } from "node:http2";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { helloGroup } from "./hello.ts";

const handler = connectNodeAdapter({
  routes: (router) => void router.rpc(GroupsService.method.getGroup, () => helloGroup),
});
createServer(handler).listen(Number(process.argv[2]), "127.0.0.1");
