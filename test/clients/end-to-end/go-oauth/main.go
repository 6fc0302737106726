// Gets a token at the standard token endpoint with golang.org/x/oauth2, as a client with an assertion, and prints it.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	baseURL, identity, tokenFile := os.Args[1], os.Args[2], os.Args[3]
	assertion, err := os.ReadFile(tokenFile)
	if err != nil {
		panic(err)
	}
	config := clientcredentials.Config{
		ClientID:  identity,
		TokenURL:  baseURL + "/sts/token",
		AuthStyle: oauth2.AuthStyleInParams,
		EndpointParams: url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {string(assertion)},
		},
	}
	token, err := config.Token(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(token.AccessToken)
}
