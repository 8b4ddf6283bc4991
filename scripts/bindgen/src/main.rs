//! wasm-bindgen, as scripts/build.mjs calls it: `<module> <folder> <name>`.
//!
//! It calls the library behind wasm-bindgen's command line: 43 crates compile in 20 seconds instead of 254 in two and a
//! half minutes, with the same bytes as output. When wasm-bindgen is raised in the workspace's Cargo.lock, raise it in
//! this crate's Cargo.toml, too.
use wasm_bindgen_cli_support::Bindgen;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = args.as_slice() else { panic!("expected three arguments, but found {args:?} instead") };
    Bindgen::new()
        .input_path(module)
        .out_name(name)
        .typescript(true)
        .web(true)
        // Without a default path: the loaders of js/ say where the module is, and bundlers need not guess. The function
        // that resets the state makes a new instance after a trap.
        .map(|bindgen| bindgen.omit_default_module_path(true).reset_state_function(true))
        .and_then(|bindgen| bindgen.generate(folder))
        .unwrap_or_else(|error| panic!("{error:?}"));
}
