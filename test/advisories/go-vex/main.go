// Reads OpenVEX documents with the library of the OpenVEX project, checks every statement (not after the flag -unchecked), merges the
// documents, and prints the statement that is effective for each vulnerability and product, one as JSON on each line.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/openvex/go-vex/pkg/vex"
)

type effective struct {
	Vulnerability string     `json:"vulnerability"`
	Product       string     `json:"product"`
	Status        vex.Status `json:"status"`
}

func main() {
	isUnchecked := flag.Bool("unchecked", false, "read statements that are not valid, too")
	flag.Parse()
	documents := []*vex.VEX{}
	for _, path := range flag.Args() {
		document, err := read(path, *isUnchecked)
		if err != nil {
			fail(fmt.Errorf("%s: %w", path, err))
		}
		documents = append(documents, document)
	}
	merged, err := vex.MergeDocuments(documents)
	if err != nil {
		fail(err)
	}
	if err := printEffective(merged); err != nil {
		fail(err)
	}
}

func read(path string, isUnchecked bool) (*vex.VEX, error) {
	document, err := vex.Open(path)
	if err != nil || isUnchecked {
		return document, err
	}
	for i := range document.Statements {
		if err := document.Statements[i].Validate(); err != nil {
			return nil, fmt.Errorf("statements[%d]: %w", i, err)
		}
	}
	return document, nil
}

// The library looks through all statements for each product: documents of one vulnerability are faster.
func printEffective(document *vex.VEX) error {
	names := []vex.VulnerabilityID{}
	parts := map[vex.VulnerabilityID]*vex.VEX{}
	for _, statement := range document.Statements {
		name := statement.Vulnerability.Name
		if parts[name] == nil {
			names = append(names, name)
			parts[name] = &vex.VEX{Metadata: document.Metadata}
		}
		parts[name].Statements = append(parts[name].Statements, statement)
	}
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for _, name := range names {
		for _, product := range productsOf(parts[name]) {
			found := parts[name].EffectiveStatement(product, string(name))
			if found == nil {
				return fmt.Errorf("%s: no statement is effective for %s", name, product)
			}
			if err := output.Encode(effective{string(name), product, found.Status}); err != nil {
				return err
			}
		}
	}
	return nil
}

// What the products of a document are found by, each once.
func productsOf(document *vex.VEX) []string {
	products := []string{}
	seen := map[string]bool{"": true}
	for _, statement := range document.Statements {
		for _, product := range statement.Products {
			if id := idOf(product); !seen[id] {
				seen[id] = true
				products = append(products, id)
			}
		}
	}
	return products
}

func idOf(product vex.Product) string {
	if product.ID != "" {
		return product.ID
	}
	for _, kind := range []vex.IdentifierType{vex.PURL, vex.CPE23, vex.CPE22} {
		if product.Identifiers[kind] != "" {
			return product.Identifiers[kind]
		}
	}
	for _, hash := range product.Hashes {
		return string(hash)
	}
	return ""
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
