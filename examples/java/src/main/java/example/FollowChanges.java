package example;

import chainguard.platform.iam.v2beta1.Groups.Group;
import chainguard.platform.iam.v2beta1.Groups.ListGroupsRequest;
import chainguard.platform.iam.v2beta1.GroupsServiceGrpc;
import chainguard.platform.oidc.Oidc.ExchangeRequest;
import chainguard.platform.oidc.Oidc.RawToken;
import chainguard.platform.oidc.SecurityTokenServiceGrpc;
import gatehouse.changes.v1.Changes.ListChangesRequest;
import gatehouse.changes.v1.ChangesServiceGrpc;
import io.grpc.CallCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** Exchanges the token of a workload, lists groups, and follows the changes in the first one. */
public final class FollowChanges {
  /** An API token lasts an hour. It is replaced a minute before. */
  private static final Duration MARGIN = Duration.ofMinutes(1);

  private static final Duration POLL = Duration.ofSeconds(2);

  public static void main(String[] arguments) throws InterruptedException {
    URI url = URI.create(System.getenv("GATEHOUSE_URL"));
    boolean isSecure = url.getScheme().equals("https");
    var credentials = isSecure ? TlsChannelCredentials.create() : InsecureChannelCredentials.create();
    ManagedChannel channel = Grpc.newChannelBuilder(url.getAuthority(), credentials).build();
    try {
      var request =
          ExchangeRequest.newBuilder().addAud(url.toString()).setIdentity(System.getenv("IDENTITY")).build();
      var tokens = new Tokens(channel, request, Path.of(System.getenv("TOKEN_FILE")));
      List<Group> groups = listGroups(channel, tokens);
      groups.forEach(group -> System.out.println(group.getUid() + " " + group.getName()));
      followChanges(channel, tokens, groups.get(0));
    } finally {
      channel.shutdownNow();
    }
  }

  private static List<Group> listGroups(ManagedChannel channel, CallCredentials tokens) {
    var service = GroupsServiceGrpc.newBlockingStub(channel).withCallCredentials(tokens);
    var request = ListGroupsRequest.newBuilder().setPageSize(100);
    var groups = new ArrayList<Group>();
    do {
      var page = service.listGroups(request.build());
      groups.addAll(page.getGroupsList());
      request.setPageToken(page.getNextPageToken());
    } while (!request.getPageToken().isEmpty());
    return groups;
  }

  private static void followChanges(ManagedChannel channel, CallCredentials tokens, Group group)
      throws InterruptedException {
    var service = ChangesServiceGrpc.newBlockingStub(channel).withCallCredentials(tokens);
    var request = ListChangesRequest.newBuilder().setParent(group.getUid()).setPageSize(1);
    // The latest change, only to know where to begin.
    request.setAfter(service.listChanges(request.build()).getResumeAfter()).setPageSize(200);
    System.out.println("following " + group.getName());
    while (true) {
      var page = service.listChanges(request.build());
      page.getChangesList()
          .forEach(change -> System.out.println(change.getMethod() + " " + change.getResourceUid()));
      request.setAfter(page.getResumeAfter());
      if (page.getNextPageToken().isEmpty()) {
        Thread.sleep(POLL.toMillis());
      }
    }
  }

  /** Exchanges the token in a file for API tokens, and keeps each until shortly before it expires. */
  private static final class Tokens extends CallCredentials {
    private final ManagedChannel channel;
    private final ExchangeRequest request;
    private final Path tokenFile;
    private RawToken token = RawToken.getDefaultInstance();

    Tokens(ManagedChannel channel, ExchangeRequest request, Path tokenFile) {
      this.channel = channel;
      this.request = request;
      this.tokenFile = tokenFile;
    }

    @Override
    public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
      executor.execute(
          () -> {
            try {
              applier.apply(bearer(current()));
            } catch (IOException | RuntimeException error) {
              applier.fail(Status.fromThrowable(error));
            }
          });
    }

    private synchronized String current() throws IOException {
      Instant expiry = Instant.ofEpochSecond(token.getExpiry().getSeconds());
      if (expiry.isBefore(Instant.now().plus(MARGIN))) {
        String subject = Files.readString(tokenFile).strip();
        token =
            SecurityTokenServiceGrpc.newBlockingStub(channel)
                .withCallCredentials(new Bearer(subject))
                .exchange(request);
      }
      return token.getToken();
    }
  }

  /** Sends one token. */
  private static final class Bearer extends CallCredentials {
    private final String token;

    Bearer(String token) {
      this.token = token;
    }

    @Override
    public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
      applier.apply(bearer(token));
    }
  }

  private static Metadata bearer(String token) {
    var metadata = new Metadata();
    metadata.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    return metadata;
  }
}
