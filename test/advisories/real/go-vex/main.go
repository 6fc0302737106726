// Reads an OpenVEX document with go-vex, and prints a line for each statement that go-vex does not accept; then how many it has.
package main

import (
	"fmt"
	"os"

	"github.com/openvex/go-vex/pkg/vex"
)

func main() {
	document, err := vex.Open(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i, statement := range document.Statements {
		if err := statement.Validate(); err != nil {
			fmt.Printf("statement %d: %v\n", i, err)
		}
	}
	fmt.Println(len(document.Statements))
}
