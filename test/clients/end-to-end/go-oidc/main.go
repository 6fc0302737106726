// Reads the discovery document of an issuer and verifies a token with the keys that it names.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
)

func main() {
	issuer, audience, token := os.Args[1], os.Args[2], os.Args[3]
	provider, err := oidc.NewProvider(context.Background(), issuer)
	if err != nil {
		fail(err)
	}
	verified, err := provider.Verifier(&oidc.Config{ClientID: audience}).Verify(context.Background(), token)
	if err != nil {
		fail(err)
	}
	if provider.Endpoint().AuthURL == "" || provider.Endpoint().TokenURL == "" {
		fail(fmt.Errorf("the document names no endpoints"))
	}
	fmt.Print(verified.Subject)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
