// Generates the client from the protos of the clone. protox is a compiler in Rust, so protoc is not needed.
use std::{env, path::PathBuf};

use protox::{
    Compiler,
    file::{ChainFileResolver, GoogleFileResolver, IncludeFileResolver},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let own = root.join("proto");
    println!("cargo::rerun-if-changed={}", own.display());
    let mut resolver = ChainFileResolver::new();
    // Before the folder of google/api, which has newer copies of google/protobuf than protox reads.
    resolver.add(GoogleFileResolver::new());
    resolver.add(IncludeFileResolver::new(own.clone()));
    resolver.add(IncludeFileResolver::new(
        root.join("node_modules/google-proto-files"),
    ));
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_files([
        own.join("chainguard/platform/iam/v2beta1/groups.proto"),
        own.join("chainguard/platform/oidc/oidc.proto"),
        own.join("gatehouse/changes/v1/changes.proto"),
    ])?;
    tonic_prost_build::configure()
        .build_server(false)
        .include_file("api.rs")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
