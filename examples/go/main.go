// Exchanges the token of a workload, lists groups, and follows the changes in the first one.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	iam "gatehouse.example/follow-changes/gen/chainguard/platform/iam/v2beta1"
	"gatehouse.example/follow-changes/gen/chainguard/platform/oidc"
	changes "gatehouse.example/follow-changes/gen/gatehouse/changes/v1"
)

const (
	// An API token lasts an hour. It is replaced a minute before.
	margin = time.Minute
	poll   = 2 * time.Second
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	address, err := url.Parse(os.Getenv("GATEHOUSE_URL"))
	if err != nil {
		return err
	}
	transport := insecure.NewCredentials()
	if address.Scheme == "https" {
		transport = credentials.NewTLS(&tls.Config{})
	}
	unauthenticated, err := grpc.NewClient(address.Host, grpc.WithTransportCredentials(transport))
	if err != nil {
		return err
	}
	defer unauthenticated.Close()
	tokens := &exchange{
		service:   oidc.NewSecurityTokenServiceClient(unauthenticated),
		audience:  os.Getenv("GATEHOUSE_URL"),
		identity:  os.Getenv("IDENTITY"),
		tokenFile: os.Getenv("TOKEN_FILE"),
		isSecure:  address.Scheme == "https",
	}
	connection, err := grpc.NewClient(address.Host, grpc.WithTransportCredentials(transport), grpc.WithPerRPCCredentials(tokens))
	if err != nil {
		return err
	}
	defer connection.Close()
	groups, err := listGroups(ctx, iam.NewGroupsServiceClient(connection))
	if err != nil {
		return err
	}
	for _, group := range groups {
		fmt.Println(group.GetUid(), group.GetName())
	}
	return followChanges(ctx, changes.NewChangesServiceClient(connection), groups[0])
}

func listGroups(ctx context.Context, service iam.GroupsServiceClient) ([]*iam.Group, error) {
	var groups []*iam.Group
	request := &iam.ListGroupsRequest{PageSize: 100}
	for {
		page, err := service.ListGroups(ctx, request)
		if err != nil {
			return nil, err
		}
		groups = append(groups, page.GetGroups()...)
		if page.GetNextPageToken() == "" {
			return groups, nil
		}
		request.PageToken = page.GetNextPageToken()
	}
}

func followChanges(ctx context.Context, service changes.ChangesServiceClient, group *iam.Group) error {
	// The latest change, only to know where to begin.
	request := &changes.ListChangesRequest{Parent: group.GetUid(), PageSize: 1}
	latest, err := service.ListChanges(ctx, request)
	if err != nil {
		return err
	}
	request.After, request.PageSize = latest.GetResumeAfter(), 200
	fmt.Println("following", group.GetName())
	for {
		page, err := service.ListChanges(ctx, request)
		if err != nil {
			return err
		}
		for _, change := range page.GetChanges() {
			fmt.Println(change.GetMethod(), change.GetResourceUid())
		}
		request.After = page.GetResumeAfter()
		if page.GetNextPageToken() == "" {
			time.Sleep(poll)
		}
	}
}

// exchange exchanges the token in a file for API tokens, and keeps each until shortly before it expires.
type exchange struct {
	service                       oidc.SecurityTokenServiceClient
	audience, identity, tokenFile string
	isSecure                      bool

	mutex sync.Mutex
	token *oidc.RawToken
}

func (e *exchange) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.token == nil || time.Until(e.token.GetExpiry().AsTime()) < margin {
		subject, err := os.ReadFile(e.tokenFile)
		if err != nil {
			return nil, err
		}
		request := &oidc.ExchangeRequest{Aud: []string{e.audience}, Identity: e.identity}
		token, err := e.service.Exchange(ctx, request, grpc.PerRPCCredentials(bearer{strings.TrimSpace(string(subject)), e.isSecure}))
		if err != nil {
			return nil, err
		}
		e.token = token
	}
	return bearer{e.token.GetToken(), e.isSecure}.GetRequestMetadata(ctx)
}

func (e *exchange) RequireTransportSecurity() bool { return e.isSecure }

// bearer sends one token. Tokens go over an insecure connection only where the address says so.
type bearer struct {
	token    string
	isSecure bool
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.isSecure }
